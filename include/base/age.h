/*
 * Ages by the monotonic clock, whose 0 is the start of the machine. A time before that, of a state
 * file or of a response that was old when it came, is a number that has wrapped: it is only good
 * for differences.
 */
#ifndef TACIT_BASE_AGE_H
#define TACIT_BASE_AGE_H

#include <stdint.h>

/* Workers, and processes that follow each other, read the clock at different times. A
 * time that is ahead by less than this counts as now. */
#define CLOCK_SKEW_MS 65536u

/* Returns the time from `then` to `now`, 0 if `then` is the later one. */
static inline uint64_t
age_between(uint64_t then, uint64_t now)
{
	uint64_t age = now - then;

	return age <= INT64_MAX ? age : 0;
}

#endif
