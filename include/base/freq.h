/* Events per second over a sliding one-second window: the current second plus what is left of the
 * last. */
#ifndef TACIT_BASE_FREQ_H
#define TACIT_BASE_FREQ_H

#include <stdint.h>

struct freq {
	uint64_t sec;      /* second that cur counts */
	uint32_t cur;
	uint32_t prev;
	uint32_t max;      /* highest rate read or closed so far */
};

/* now_ms: the loop's monotonic clock. */
void freq_add(struct freq *f, uint64_t now_ms, uint32_t n);
/* The highest rate is at least this. */
void freq_raise(struct freq *f, uint32_t n);
/*
 * A second that several workers count in, one word without a lock: one more, returns how many it
 * has now. Each raises its own freq to what it saw: the largest is the highest rate of all.
 */
uint32_t freq_count_second(uint64_t *second, uint64_t now_ms);
/*
 * Adds what another worker counted: the rate of both. The highest one is the larger of the two.
 * That worker may go on counting meanwhile: what it does just then may be missing, or count
 * twice.
 */
void freq_merge(struct freq *sum, const struct freq *f);
/* From any thread, as freq_merge(). */
uint32_t freq_read(const struct freq *f, uint64_t now_ms);

#endif
