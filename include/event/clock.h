/*
 * The loop's clock: the monotonic clock is read once per turn. The wall clock's offset and the CPU
 * share are sampled once a second.
 */
#ifndef TACIT_EVENT_CLOCK_H
#define TACIT_EVENT_CLOCK_H

#include <stdint.h>

#include "base/sys.h"

struct loop_clock {
	uint64_t now_ns;       /* monotonic, as of the last read */
	int64_t wall_offset;   /* wall clock - monotonic, ns */
	uint64_t sampled_ns;   /* time of the last sample; 0: none */
	uint64_t cpu_ns;       /* CPU time of this thread at the last sample */
	_Atomic unsigned int idle_pct; /* share of idle time between the last two samples, 0..100 */
};

/* Reads the clocks for the first time; idle_pct is 100 until the second sample. */
void clock_init(struct loop_clock *c, struct sys *sys);
void clock_read(struct loop_clock *c, struct sys *sys);
/* Wall clock in ns since 1970. */
uint64_t clock_wall_ns(const struct loop_clock *c);

#endif
