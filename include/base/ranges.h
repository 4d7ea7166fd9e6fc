/*
 * Tracks acknowledgements that are ranges [lo, hi] of a wrapping 32-bit counter, as MSG_ZEROCOPY
 * reports completed sends. An acknowledgement in order, the usual case, only advances `next`. One
 * that leaves a gap is kept in a small sorted set until the gap is filled.
 */
#ifndef TACIT_BASE_RANGES_H
#define TACIT_BASE_RANGES_H

#include <stdint.h>

#include "base/compiler.h"

/* Maximum number of ranges in the set. */
#define RANGES_MAX 1024

struct range {
	uint32_t lo, hi; /* both inclusive */
};

struct ranges {
	uint32_t next;     /* the first number that is not acknowledged */
	uint32_t n;        /* number of ranges in the set */
	uint32_t cap;
	uint32_t off;      /* no fast path: all acknowledgements go through the set */
	struct range *set; /* sorted, with gaps between the ranges; allocated */
	uint64_t held;     /* acknowledgements that went through the set */
	uint64_t old;      /* those that were known already */
	uint64_t full;     /* those rejected because of RANGES_MAX */
};

/* first: the first number that will be acknowledged. fast_path: tune.ranges.fast-path. */
void ranges_init(struct ranges *r, uint32_t first, int fast_path);
void ranges_fini(struct ranges *r);

/* The slow path of ranges_ack(). */
int ranges_ack_any(struct ranges *r, uint32_t lo, uint32_t hi) must_check;

/*
 * Adds an acknowledgement; everything before `r->next` is acknowledged afterwards. Numbers known
 * already are ignored. At most 2^31 numbers may be pending: a number further ahead counts as past.
 * 0; or nothing has changed: -ERR_INVAL (hi before lo), -ERR_FULL (RANGES_MAX), -ERR_NOMEM. An
 * acknowledgement that advances `next` never fails for lack of space.
 */
static inline must_check int
ranges_ack(struct ranges *r, uint32_t lo, uint32_t hi)
{
	if (likely(lo == r->next && !(r->n | r->off) && hi - lo <= INT32_MAX)) {
		r->next = hi + 1;
		return 0;
	}
	return ranges_ack_any(r, lo, hi);
}

#endif
