/* Threads of a process in a world, which the linker redirects here: see --wrap in
 * build-aux/build.mk. */
#include "base/thread.h"
#include "fake/tasks.h"

int __real_thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name);
int __wrap_thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name);
int __real_thread_join(struct thread *t);
int __wrap_thread_join(struct thread *t);

int
__wrap_thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name)
{
	unsigned int before = fake_threads();
	int r = __real_thread_start(t, fn, arg, name);

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
