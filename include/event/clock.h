/*
 * The loop's clock: one read of the monotonic clock per turn. What changes slowly, the wall clock's
 * offset and the share of CPU used, is looked at once a second.
 */
#ifndef TACIT_EVENT_CLOCK_H
#define TACIT_EVENT_CLOCK_H

#include <stdint.h>

#include "base/sys.h"

struct loop_clock {
	uint64_t now_ns;       /* monotonic, as of the last read */
	int64_t wall_offset;   /* wall clock - monotonic, ns */
	uint64_t sampled_ns;   /* when the slow things were looked at; 0: never */
	uint64_t cpu_ns;       /* CPU time of this thread then */
	_Atomic unsigned int idle_pct; /* of the time between the last two looks, 0..100 */
};

/* Reads for the first time; idle_pct is 100 until there is something to compare with. */
void clock_init(struct loop_clock *c, struct sys *sys);
void clock_read(struct loop_clock *c, struct sys *sys);
/* Wall clock in ns since 1970. */
uint64_t clock_wall_ns(const struct loop_clock *c);

#endif
