/*
 * ranges: the cost of one acknowledgement, in ns, with the fast path and without: in order, with
 * one in a hundred late, and in random order within a window; and for comparison an insert and a
 * remove in a general ordered set, the C library's red-black tree. Each figure is the best of
 * several rounds.
 *
 *     ranges [acknowledgements per round]
 */
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/ranges.h"
#include "stats.h"

enum {
	ROUNDS = 7,
	ACKS = 1 << 20,
	WINDOW = 64, /* acknowledgements that are shuffled */
	LATE = 100,  /* one of so many comes WINDOW / 2 later */
};

static void
swap(struct range *a, struct range *b)
{
	struct range t = *a;

	*a = *b;
	*b = t;
}

/* n ranges of 1 to 4 numbers each, all in order. */
static void
make_acks(struct range *a, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		a[i].lo = at;
		a[i].hi = at + random_number() % 4;
		at = a[i].hi + 1;
	}
}

static void
make_late(struct range *a, uint32_t n)
{
	for (uint32_t i = 0; i + LATE <= n; i += LATE)
		for (uint32_t k = i; k < i + WINDOW / 2; k++)
			swap(&a[k], &a[k + 1]);
}

static void
make_random(struct range *a, uint32_t n)
{
	for (uint32_t i = 0; i + WINDOW <= n; i += WINDOW)
		for (uint32_t k = WINDOW - 1; k > 0; k--)
			swap(&a[i + k], &a[i + random_number() % (k + 1)]);
}

static double
time_ranges(const struct range *a, uint32_t n, int fast_path)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		struct ranges r;
		uint64_t start;
		double ns;

		ranges_init(&r, 0, fast_path);
		start = now_ns();
		for (uint32_t i = 0; i < n; i++) {
			if (ranges_ack(&r, a[i].lo, a[i].hi) < 0)
				exit(1);
			/* As its user does: the freed numbers are read after each. */
			__asm__ volatile("" : : "r"(r.next) : "memory");
		}
		ns = (double)(now_ns() - start) / n;
		if (r.n || r.next == 0)
			exit(1);
		ranges_fini(&r);
		best = ns < best ? ns : best;
	}
	return best;
}

static int
compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The tree holds the ranges behind gaps: `waiting` others. */
static double
time_tree(const struct range *a, uint32_t n, uint32_t waiting)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		void *root = NULL;
		uint64_t start;
		double ns;

		for (uint32_t i = n - waiting; i < n; i++)
			if (!tsearch(&a[i], &root, compare))
				exit(1);
		start = now_ns();
		for (uint32_t i = 0; i < n - waiting; i++) {
			if (!tsearch(&a[i], &root, compare))
				exit(1);
			(void)tdelete(&a[i], &root, compare);
		}
		ns = (double)(now_ns() - start) / (n - waiting);
		for (uint32_t i = n - waiting; i < n; i++)
			(void)tdelete(&a[i], &root, compare);
		best = ns < best ? ns : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	unsigned long want = argc > 1 ? strtoul(argv[1], NULL, 10) : ACKS;
	uint32_t n = (uint32_t)(want < 1000 ? 1000 : want > 1u << 26 ? 1u << 26 : want);
	struct range *a = malloc(n * sizeof(*a));

	if (!a)
		return 1;
	make_acks(a, n);
	printf("in-order fast=%.2f", time_ranges(a, n, 1));
	printf(" set=%.2f tree=%.2f\n", time_ranges(a, n, 0), time_tree(a, n, 0));
	make_late(a, n);
	printf("1%%-late fast=%.2f", time_ranges(a, n, 1));
	printf(" set=%.2f\n", time_ranges(a, n, 0));
	make_acks(a, n);
	make_random(a, n);
	printf("random fast=%.2f", time_ranges(a, n, 1));
	printf(" set=%.2f tree=%.2f\n", time_ranges(a, n, 0), time_tree(a, n, WINDOW / 2));
	free(a);
	return 0;
}
