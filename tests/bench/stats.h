/*
 * Latencies of the benchmark's clients: a bounded array, sorted once at the end; the clock, and
 * random numbers that are the same in every run.
 */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STATS_MAX = 1000000 };

struct stats {
	uint32_t *ns;            /* nanoseconds, at most 4.2 s: longer ones count as that */
	size_t n;
};

static inline uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint32_t
random_number(void)
{
	static uint32_t x = 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

static inline void
stats_add(struct stats *s, uint64_t ns)
{
	if (s->n < STATS_MAX)
		s->ns[s->n++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static inline int
stats_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The value that a share q of all samples does not exceed, in microseconds. Requires sorted
 * samples. */
static inline double
stats_at(const struct stats *s, double q)
{
	size_t i = (size_t)(q * (double)s->n);

	if (!s->n)
		return 0;
	return s->ns[i < s->n ? i : s->n - 1] / 1000.0;
}

/* Prints " p50=… p99=… p999=… max=…" in microseconds, and empties s. */
static inline void
stats_print(struct stats *s)
{
	qsort(s->ns, s->n, sizeof(*s->ns), stats_order);
	printf(" p50=%.1f p99=%.1f p999=%.1f max=%.1f\n", stats_at(s, .5), stats_at(s, .99),
	       stats_at(s, .999), stats_at(s, 1));
	fflush(stdout);
	s->n = 0;
}

#endif
