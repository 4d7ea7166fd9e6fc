/* The table of what a loop's functions cost. Only its worker writes; a row is taken once, by the
 * first call of its function, and stays. */
#include "event/profile.h"

#include <string.h>

#include "base/counter.h"

/* The bounds of all PROFILE_NAME() in the program: the linker's. */
extern const struct profile_name __start_profile_names[] __attribute__((weak));
extern const struct profile_name __stop_profile_names[] __attribute__((weak));

const char *
profile_name_of(profile_fn *fn)
{
	for (const struct profile_name *n = __start_profile_names; n < __stop_profile_names; n++)
		if (n->fn == fn)
			return n->name;
	return NULL;
}

void
profile_init(struct profile *p, struct sys *sys)
{
	memset(p, 0, sizeof(*p));
	p->sys = sys;
}

void
profile_set_mode(struct profile *p, enum profile_mode mode)
{
	atomic_store_explicit(&p->mode, (int)mode, memory_order_relaxed);
}

void
profile_clear(struct profile *p)
{
	memset(p->row, 0, sizeof(p->row));
}

/* --- the turn --- */

/* As HAProxy's avg_loop_us: a sum from which its own average is taken for each one that comes. */
static int
turns_are_slow(struct profile *p, uint64_t began_ns)
{
	uint64_t now = sys_clock_ns(p->sys, CLOCK_MONOTONIC), average;

	p->sum_ns += now - began_ns - p->sum_ns / PROFILE_TURNS;
	average = p->sum_ns / PROFILE_TURNS;
	return average >= (counter_read(&p->is_on) ? PROFILE_FAST_NS : PROFILE_SLOW_NS);
}

/* The mode is auto, or has changed. */
void
profile_follow(struct profile *p, enum profile_mode mode, uint64_t began_ns)
{
	int is_on = mode == PROFILE_AUTO ? turns_are_slow(p, began_ns) : mode == PROFILE_ON;

	counter_set(&p->is_on, is_on);
}

/* --- a call --- */

/* NULL: the table is full. */
static struct profile_row *
find_row(struct profile *p, profile_fn *fn)
{
	unsigned int at = (unsigned int)((uintptr_t)fn >> 4);

	for (unsigned int i = 0; i < PROFILE_FNS; i++) {
		struct profile_row *r = &p->row[(at + i) % PROFILE_FNS];
		profile_fn *have = counter_read(&r->fn);

		if (!have)
			counter_set(&r->fn, fn);
		if (!have || have == fn)
			return r;
	}
	return NULL;
}

void
profile_count(struct profile *p, profile_fn *fn, uint64_t began_ns, uint64_t due_ns)
{
	struct profile_row *r = find_row(p, fn);

	if (!r)
		return;
	counter_add(&r->calls, 1);
	counter_add(&r->busy_ns, sys_clock_ns(p->sys, CLOCK_MONOTONIC) - began_ns);
	if (due_ns < began_ns)
		counter_add(&r->late_ns, began_ns - due_ns);
}
