/* Events per second over a sliding one-second window: the current second plus what is left of the
 * last. */
#ifndef TACIT_BASE_FREQ_H
#define TACIT_BASE_FREQ_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct freq {
	uint64_t sec;      /* second that cur belongs to */
	uint32_t cur;
	uint32_t prev;
	uint32_t max;      /* highest rate seen so far */
};

/* Makes sec the current second. */
void freq_start_second(struct freq *f, uint64_t sec);
/* Raises the highest rate to this value. */
static inline void
freq_raise(struct freq *f, uint32_t n)
{
	if (n > f->max)
		atomic_write(&f->max, n);
}

/* now_ms: the loop's monotonic clock. Workers read it at different times: one that is behind counts
 * in the current second. */
static inline void
freq_add(struct freq *f, uint64_t now_ms, uint32_t n)
{
	uint64_t sec = now_ms / 1000;

	if (unlikely(sec > f->sec))
		freq_start_second(f, sec);
	atomic_write(&f->cur, f->cur + n);
	freq_raise(f, f->cur);
}

/*
 * A counter for one second that several workers share, one word without a lock. Adds one and
 * returns the new count. Each worker raises its own freq to this count: the largest is the highest
 * total rate.
 */
uint32_t freq_count_second(uint64_t *second, uint64_t now_ms);
/*
 * Adds another worker's counter: the current rates are summed, the highest rate is the larger of
 * the two. The other worker may count meanwhile; an event of that moment may be missed or counted
 * twice.
 */
void freq_merge(struct freq *sum, const struct freq *f);
/* Reads the rate. Any thread, as freq_merge(). */
uint32_t freq_read(const struct freq *f, uint64_t now_ms);

#endif
