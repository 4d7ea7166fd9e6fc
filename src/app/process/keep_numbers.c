/* Numbers of the whole process that outlive it. First worker. */
#include <stdio.h>

#include "app/process/keep.h"
#include "app/process/process.h"
#include "base/counter.h"
#include "base/err.h"

/* Adds own numbers and base of a process that has ended. */
static void
add_numbers(uint64_t *base, const uint64_t *former, const struct keep_numbers *x)
{
	for (unsigned int i = 0; i < x->n; i++) {
		if (x->is_maximum(i)) {
			base[i] = MAX(base[i], MAX(former[i], former[x->n + i]));
		} else {
			base[i] += former[i] + former[x->n + i];
		}
	}
}

static void
join_numbers(struct keep *k, const char *name, struct keep_numbers *x, uint64_t *base)
{
	x->past[x->n_past++] = base;
	for (unsigned int f = 0; f < k->n_former; f++) {
		const struct keep_former *former = &k->former[f];
		const struct memfile_item *item =
			memfile_find(&former->view, KEEP_NUMBERS, name, "");

		if (!item || item->len < 2 * x->n * sizeof(uint64_t))
			continue;
		if (former->has_ended) {
			add_numbers(base, item->payload, x);
			continue;
		}
		x->past[x->n_past++] = item->payload;
		x->past[x->n_past++] = (const uint64_t *)item->payload + x->n;
	}
}

int
keep_numbers(struct process *p, const char *name, unsigned int n,
	int (*is_maximum)(unsigned int i), struct keep_numbers *out)
{
	uint64_t *at = memfile_add(&p->keep.own, KEEP_NUMBERS, name, "", 2 * n * sizeof(*at));

	*out = (struct keep_numbers){ .own = at, .n = n, .is_maximum = is_maximum };
	if (!at)
		return -ERR_FULL;
	join_numbers(&p->keep, name, out, at + n);
	return 0;
}

uint64_t
keep_number_past(const struct keep_numbers *x, unsigned int i)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < x->n_past; k++) {
		uint64_t v = x->past[k][i];

		sum = x->is_maximum(i) ? MAX(sum, v) : sum + v;
	}
	return sum;
}
