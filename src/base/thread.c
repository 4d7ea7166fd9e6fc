/* Threads, through pthreads. The owner keeps struct thread in place until it has joined it. */
#include "base/thread.h"

#include <string.h>

/* Each thread sets its own name: for another thread the C library would use /proc. */
static void *
thread_start_routine(void *arg)
{
	struct thread *t = arg;

	if (t->name[0])
		(void)pthread_setname_np(pthread_self(), t->name);
	t->fn(t->arg);
	return NULL;
}

int
thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	t->fn = fn;
	t->arg = arg;
	t->name[0] = '\0';
	if (n && n < sizeof(t->name))
		memcpy(t->name, name, n + 1);
	return -pthread_create(&t->id, NULL, thread_start_routine, t);
}

int
thread_join(struct thread *t)
{
	return -pthread_join(t->id, NULL);
}
