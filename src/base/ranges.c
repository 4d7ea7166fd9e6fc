/* Acknowledged numbers of one connection, on its worker. The set is sorted, its ranges do not
 * touch, and all of them lie above `next`. */
#include "base/ranges.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

#define CAP_FIRST 8

void
ranges_init(struct ranges *r, uint32_t first, int fast_path)
{
	memset(r, 0, sizeof(*r));
	r->next = first;
	r->off = !fast_path;
}

void
ranges_fini(struct ranges *r)
{
	mem_free(r->set);
	memset(r, 0, sizeof(*r));
}

/* Distances from `next` do not wrap, so all comparisons use them. */
static inline uint32_t
distance_of(const struct ranges *r, uint32_t at)
{
	return at - r->next;
}

/* The first range that ends at `lo` - 1 or later: to merge with, or to insert before. */
static uint32_t
place_of(const struct ranges *r, uint32_t lo)
{
	uint32_t from = 0, to = r->n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (distance_of(r, r->set[mid].hi) + 1 < distance_of(r, lo))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void
take_out(struct ranges *r, uint32_t at, uint32_t n)
{
	/* An empty set may have no memory, and memmove() must not get NULL. */
	if (!n)
		return;
	r->n -= n;
	memmove(&r->set[at], &r->set[at + n], (r->n - at) * sizeof(*r->set));
}

static int
reserve_range(struct ranges *r)
{
	uint32_t cap = r->cap ? MIN(2 * r->cap, RANGES_MAX) : CAP_FIRST;
	struct range *set;

	if (r->n < r->cap)
		return 0;
	if (r->n == RANGES_MAX) {
		r->full++;
		return -ERR_FULL;
	}
	set = mem_resize(r->set, cap, sizeof(*set));
	if (!set)
		return -ERR_NOMEM;
	r->set = set;
	r->cap = cap;
	return 0;
}

static int
insert_range(struct ranges *r, uint32_t lo, uint32_t hi)
{
	uint32_t at = place_of(r, lo), end = at;
	int err;

	/* All ranges that it touches are merged. */
	while (end < r->n && distance_of(r, r->set[end].lo) <= distance_of(r, hi) + 1)
		end++;
	if (end == at) {
		err = reserve_range(r);
		if (err)
			return err;
		memmove(&r->set[at + 1], &r->set[at], (r->n - at) * sizeof(*r->set));
		r->set[at] = (struct range){ lo, hi };
		r->n++;
		return 0;
	}
	if (distance_of(r, lo) < distance_of(r, r->set[at].lo))
		r->set[at].lo = lo;
	if (distance_of(r, hi) < distance_of(r, r->set[end - 1].hi))
		hi = r->set[end - 1].hi;
	r->set[at].hi = hi;
	take_out(r, at + 1, end - at - 1);
	return 0;
}

/* Everything up to hi is acknowledged, with the ranges of the set that touch it. */
static void
advance_next(struct ranges *r, uint32_t hi)
{
	uint32_t end = 0;

	while (end < r->n && distance_of(r, r->set[end].lo) <= distance_of(r, hi) + 1) {
		if (distance_of(r, r->set[end].hi) > distance_of(r, hi))
			hi = r->set[end].hi;
		end++;
	}
	take_out(r, 0, end);
	r->next = hi + 1;
}

int
ranges_ack_any(struct ranges *r, uint32_t lo, uint32_t hi)
{
	int err;

	if (hi - lo > INT32_MAX)
		return -ERR_INVAL;
	if (distance_of(r, hi) > INT32_MAX) {
		r->old++;
		return 0;
	}
	if (distance_of(r, lo) > INT32_MAX)
		lo = r->next;
	if (lo == r->next && !r->off) {
		advance_next(r, hi);
		return 0;
	}
	err = insert_range(r, lo, hi);
	/* An acknowledgement that advances `next` needs no space. */
	if (err && lo != r->next)
		return err;
	r->held += !err;
	if (err || r->set[0].lo == r->next)
		advance_next(r, err ? hi : r->set[0].hi);
	return 0;
}
