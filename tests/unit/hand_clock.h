/* A clock that stands until a test sets it: the clock_gettime of a struct sys_ops. All clocks of
 * the program read it. */
#ifndef TACIT_TESTS_UNIT_HAND_CLOCK_H
#define TACIT_TESTS_UNIT_HAND_CLOCK_H

#include <stdint.h>
#include <time.h>

static uint64_t clock_ms;

static long
read_clock(void *ctx, clockid_t id, struct timespec *ts)
{
	(void)ctx, (void)id;
	*ts = (struct timespec){ (time_t)(clock_ms / 1000), (long)(clock_ms % 1000) * 1000000 };
	return 0;
}

#endif
