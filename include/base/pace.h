/*
 * A pace: so many bytes in each period, spread evenly over it. Bytes that were not used in time
 * may follow later, but no more than those of two pieces; what was used in advance is waited for.
 * Exact: nothing is rounded from one question to the next. One owner.
 */
#ifndef TACIT_BASE_PACE_H
#define TACIT_BASE_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* The longest period. */
#define PACE_PERIOD_MAX_MS (24u * 3600u * 1000u)
/* The time that the bytes of a piece are for, unless a piece is set. */
#define PACE_PIECE_MS 50u

struct pace {
	uint32_t limit;       /* bytes in a period; from 1 */
	uint32_t period_ms;   /* from 1 to PACE_PERIOD_MAX_MS */
	uint32_t piece;       /* bytes that pass together, if there are as many */
	uint64_t at_ms;       /* when credit was counted */
	int64_t credit;       /* bytes that may pass, times period_ms */
};

/* piece: 0: the bytes of this pace in PACE_PIECE_MS, at least 1 and at most those of a period. The
 * first piece may pass at once. */
void pace_init(struct pace *p, uint32_t limit, uint32_t period_ms, uint32_t piece, uint64_t now_ms);
/* The number of n bytes, of which there is one, that may pass now; 0: none before *wake_ms. */
size_t pace_grant(struct pace *p, size_t n, uint64_t now_ms, uint64_t *wake_ms) must_check;
/* n bytes have passed, maybe more than were granted. */
void pace_used(struct pace *p, size_t n);

#endif
