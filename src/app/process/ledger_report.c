/* Prints the ledger as a table. Main thread, when the process ends. */
#include "app/process/ledger_report.h"

#include <stdlib.h>

#include "base/compiler.h"

struct row {
	enum sys_call call;
	uint64_t n[SYS_OUTCOMES];
	uint64_t sum;
};

static int
by_sum(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	return x->sum < y->sum ? 1 : x->sum > y->sum ? -1 : 0;
}

/* Prints a column with sum per count, or "-" for a count of 0. */
static void
print_share(FILE *to, uint64_t sum, uint64_t count)
{
	if (count)
		fprintf(to, " %10.2f", (double)sum / (double)count);
	else
		fprintf(to, " %10s", "-");
}

static void
print_row(FILE *to, const struct row *r, uint64_t conns, uint64_t requests, const char *name)
{
	fprintf(to, "%10llu %10llu %10llu", (unsigned long long)r->sum,
		(unsigned long long)r->n[SYS_AGAIN], (unsigned long long)r->n[SYS_ERROR]);
	print_share(to, r->sum, conns);
	print_share(to, r->sum, requests);
	fprintf(to, "  %s", name);
}

void
ledger_report(FILE *to, const struct ledger *now, const struct ledger *start, uint64_t conns,
	uint64_t requests)
{
	struct row rows[SYS_CALLS];
	struct row total = { .sum = 0 };
	unsigned int n = 0;

	for (int c = 0; c < SYS_CALLS; c++) {
		struct row *r = &rows[n];

		r->call = (enum sys_call)c;
		r->sum = 0;
		for (int o = 0; o < SYS_OUTCOMES; o++) {
			r->n[o] = now->n[c][o] - (start ? start->n[c][o] : 0);
			r->sum += r->n[o];
		}
		if (!r->sum)
			continue;
		n++;
		for (int o = 0; o < SYS_OUTCOMES && !ledger_is_clock(r->call); o++)
			total.n[o] += r->n[o];
		total.sum += ledger_is_clock(r->call) ? 0 : r->sum;
	}
	qsort(rows, n, sizeof(rows[0]), by_sum);
	fprintf(to, "\nsystem calls for %llu connections and %llu requests:\n",
		(unsigned long long)conns, (unsigned long long)requests);
	fprintf(to, "%10s %10s %10s %10s %10s\n", "calls", "not yet", "errors", "per conn.",
		"per req.");
	for (unsigned int i = 0; i < n; i++) {
		print_row(to, &rows[i], conns, requests, ledger_name(rows[i].call));
		fputs(ledger_is_clock(rows[i].call)
				? " (mostly without entering the kernel; not in the total)\n"
				: "\n",
			to);
	}
	print_row(to, &total, conns, requests, "total\n");
}
