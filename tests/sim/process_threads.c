/* Threads of a process in a world, which the linker redirects here: see --wrap in
 * build-aux/build.mk. */
#include <sched.h>
#include <stdlib.h>

#include "base/thread.h"
#include "fake/tasks.h"

int __real_thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name);
int __wrap_thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name);
int __real_thread_join(struct thread *t);
int __wrap_thread_join(struct thread *t);

/* Keeps this program on one CPU, the n-th that it may use: to wake a thread on another one takes
 * longer than most of its turns. n is the place of this program among those that run-tests runs at
 * the same time (TEST_SLOT); without that the kernel chooses. */
static void
keep_to_one_cpu(void)
{
	const char *slot = getenv("TEST_SLOT");
	cpu_set_t may, one;
	int n, cpu = 0;

	if (!slot || sched_getaffinity(0, sizeof(may), &may) < 0)
		return;
	n = atoi(slot) % CPU_COUNT(&may);
	while (!CPU_ISSET(cpu, &may) || n-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

int
__wrap_thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name)
{
	static int is_kept;
	unsigned int before = fake_threads();
	int r;

	if (!is_kept)
		keep_to_one_cpu();
	is_kept = 1;
	r = __real_thread_start(t, fn, arg, name);

	if (!r)
		fake_thread_started(before);
	return r;
}

int
__wrap_thread_join(struct thread *t)
{
	int r;

	fake_thread_joins(t->id);
	r = __real_thread_join(t);
	fake_thread_joined();
	return r;
}
