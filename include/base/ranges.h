/*
 * How far everything is acknowledged, where acknowledgements are ranges [lo, hi] of a 32-bit
 * counter that wraps: what MSG_ZEROCOPY reports of the sends that the kernel is done with. In
 * order, which is nearly always, an acknowledgement only moves `next`. One that leaves a hole is
 * kept in a small sorted set until the hole is filled.
 */
#ifndef TACIT_BASE_RANGES_H
#define TACIT_BASE_RANGES_H

#include <stdint.h>

#include "base/compiler.h"

/* Ranges behind holes that are kept at a time. */
#define RANGES_MAX 1024

struct range {
	uint32_t lo, hi; /* both are in it */
};

struct ranges {
	uint32_t next;     /* all before it is acknowledged, it is not */
	uint32_t n;        /* in the set */
	uint32_t cap;
	uint32_t off;      /* no fast path: everything goes through the set */
	struct range *set; /* in order, with holes before each; the heap's */
	uint64_t held;     /* acknowledgements that went through the set */
	uint64_t old;      /* that brought nothing new */
	uint64_t full;     /* refused by RANGES_MAX */
};

/* first: the first number to be acknowledged. fast_path: tune.ranges.fast-path. */
void ranges_init(struct ranges *r, uint32_t first, int fast_path);
void ranges_fini(struct ranges *r);

/* The rest of ranges_ack(). */
int ranges_ack_any(struct ranges *r, uint32_t lo, uint32_t hi) must_check;

/*
 * Takes an acknowledgement; `r->next` then says how far it goes without a hole. Numbers known
 * already are ignored. No more than 2^31 numbers may be waiting at a time: what seems further
 * ahead is past. 0; or nothing has changed: -ERR_INVAL (hi before lo), -ERR_FULL (RANGES_MAX),
 * -ERR_NOMEM. What moves `next` never fails for room.
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
