/*
 * Threads: pthread_create(3), pthread_join(3). What the C library does to make one is outside the
 * ledger, like the name it gets (pthread_setname_np(3)); what the thread does is not.
 */
#ifndef TACIT_BASE_THREAD_H
#define TACIT_BASE_THREAD_H

#include <pthread.h>

#include "base/compiler.h"

#define THREAD_NAME_MAX 16 /* with its end: the kernel's TASK_COMM_LEN */

/* The owner's, who keeps it where it is until thread_join(). */
struct thread {
	pthread_t id;
	void (*fn)(void *arg);
	void *arg;
	char name[THREAD_NAME_MAX]; /* "": the process's */
};

/*
 * Runs fn(arg) in a thread of its own. 0, or a negative errno (-EAGAIN: no more threads) and fn
 * does not run. The thread starts with the signals blocked that its maker has blocked: who takes
 * signals in one place, such as a signalfd, has blocked all of them before. name is copied; NULL,
 * or one of THREAD_NAME_MAX bytes and more, names nothing.
 */
int thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name) must_check;
/* Waits until fn has returned, and for what it wrote. 0 or a negative errno; once per start. */
int thread_join(struct thread *t) must_check;

#endif
