/* The clock of one loop, read once per turn. Its time never goes back. The wall clock is derived
 * from it with an offset that is checked every second. */
#include "event/clock.h"

#include <string.h>
#include <sys/resource.h>

#include "base/counter.h"

#define NS_PER_S 1000000000u
#define SAMPLE_NS NS_PER_S

static uint64_t
cpu_of(const struct rusage *ru)
{
	return (uint64_t)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) * 1000u;
}

static void
sample_second(struct loop_clock *c, struct sys *sys)
{
	uint64_t cpu, elapsed = c->now_ns - c->sampled_ns;
	struct rusage ru;

	if (c->sampled_ns && elapsed < SAMPLE_NS)
		return;
	c->wall_offset = (int64_t)(sys_clock_ns(sys, CLOCK_REALTIME) - c->now_ns);
	if (sys_getrusage(sys, RUSAGE_THREAD, &ru) == 0) {
		cpu = cpu_of(&ru);
		if (c->sampled_ns)
			counter_set(&c->idle_pct, cpu - c->cpu_ns >= elapsed ? 0 :
				(unsigned int)(100 - (cpu - c->cpu_ns) * 100 / elapsed));
		c->cpu_ns = cpu;
	}
	c->sampled_ns = c->now_ns;
}

void
clock_init(struct loop_clock *c, struct sys *sys)
{
	memset(c, 0, sizeof(*c));
	counter_set(&c->idle_pct, 100);
	clock_read(c, sys);
}

void
clock_read(struct loop_clock *c, struct sys *sys)
{
	c->now_ns = sys_clock_ns(sys, CLOCK_MONOTONIC);
	sample_second(c, sys);
}

uint64_t
clock_wall_ns(const struct loop_clock *c)
{
	return c->now_ns + (uint64_t)c->wall_offset;
}
