/* The numbers of maps and ACLs, by which the admin socket knows them (#<id>). Main thread, when the
 * configuration is complete; no two are the same. */
#include "rule/match/pattern_ids.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/match/pattern_ref.h"

static int
compare_ref_ids(const void *a, const void *b)
{
	const struct pattern_ref *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* Assigns missing numbers: `all` begins with the n_named refs that have one, in order. */
static void
give_numbers(struct pattern_ref **all, size_t n_named, size_t n)
{
	int64_t next = 0;
	size_t at = 0;

	for (size_t i = n_named; i < n; i++) {
		for (; at < n_named && all[at]->id <= next; at++)
			next += all[at]->id == next;
		all[i]->id = next++;
	}
}

int
pattern_ids_assign(struct list *refs)
{
	size_t n = 0, n_named = 0, i = 0;
	struct pattern_ref **all;

	list_each(it, refs) {
		n_named += list_entry(it, struct pattern_ref, link)->id != PATTERN_ID_NONE;
		n++;
	}
	all = mem_alloc(MAX(n, 1) * sizeof(struct pattern_ref *));
	if (!all)
		return -ERR_NOMEM;
	n = n_named;
	list_each_safe(it, refs) {
		struct pattern_ref *ref = list_entry(it, struct pattern_ref, link);

		all[ref->id == PATTERN_ID_NONE ? n++ : i++] = ref;
		list_remove(it);
	}
	qsort(all, n_named, sizeof(struct pattern_ref *), compare_ref_ids);
	give_numbers(all, n_named, n);
	qsort(all, n, sizeof(struct pattern_ref *), compare_ref_ids);
	for (i = 0; i < n; i++)
		list_append(refs, &all[i]->link);
	mem_free(all);
	return 0;
}
