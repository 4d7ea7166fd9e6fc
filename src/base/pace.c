/* Bytes in a period: a leaky bucket in units of bytes times milliseconds. Pure. */
#include "base/pace.h"

/* Pieces that may pass at once after a while without any. */
#define PIECES_KEPT 2

/* The bytes of this pace in PACE_PIECE_MS, at least 1 and at most those of a period. */
static uint32_t
default_piece(uint32_t limit, uint32_t period_ms)
{
	uint64_t n = (uint64_t)limit * PACE_PIECE_MS / period_ms;

	return n ? (uint32_t)MIN(n, limit) : 1;
}

void
pace_init(struct pace *p, uint32_t limit, uint32_t period_ms, uint32_t piece, uint64_t now_ms)
{
	assert(limit && period_ms && period_ms <= PACE_PERIOD_MAX_MS);
	*p = (struct pace){ .limit = limit, .period_ms = period_ms, .at_ms = now_ms };
	p->piece = piece ? MIN(piece, limit) : default_piece(limit, period_ms);
	p->credit = (int64_t)p->piece * period_ms;
}

static void
add_credit(struct pace *p, uint64_t now_ms)
{
	int64_t most = (int64_t)p->piece * p->period_ms * PIECES_KEPT;
	uint64_t past = now_ms - MIN(p->at_ms, now_ms);

	p->at_ms = MAX(p->at_ms, now_ms);
	if (past > (uint64_t)(most - p->credit) / p->limit)
		p->credit = most;
	else
		p->credit += (int64_t)(past * p->limit);
}

size_t
pace_grant(struct pace *p, size_t n, uint64_t now_ms, uint64_t *wake_ms)
{
	int64_t need = (int64_t)MIN(n, (size_t)p->piece) * p->period_ms;

	add_credit(p, now_ms);
	if (p->credit < need) {
		*wake_ms = now_ms + (uint64_t)(need - p->credit + p->limit - 1) / p->limit;
		return 0;
	}
	return MIN(n, (size_t)(p->credit / p->period_ms));
}

void
pace_used(struct pace *p, size_t n)
{
	p->credit -= (int64_t)n * p->period_ms;
}
