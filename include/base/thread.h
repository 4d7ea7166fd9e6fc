/*
 * Threads: pthread_create(3), pthread_join(3). The system calls that the C library makes to create
 * and name a thread are not in the ledger; those of the thread itself are.
 */
#ifndef TACIT_BASE_THREAD_H
#define TACIT_BASE_THREAD_H

#include <pthread.h>

#include "base/compiler.h"

#define THREAD_NAME_MAX 16 /* including the NUL: the kernel's TASK_COMM_LEN */

/* Owned by the caller; it must not move before thread_join(). */
struct thread {
	pthread_t id;
	void (*fn)(void *arg);
	void *arg;
	char name[THREAD_NAME_MAX]; /* "": the process's name */
};

/*
 * Runs fn(arg) in a new thread. 0, or a negative errno (-EAGAIN: no more threads) and fn does not
 * run. The thread inherits the blocked signals of its creator; a program that takes signals through
 * a signalfd must block them before. name is copied; NULL, or a name of THREAD_NAME_MAX bytes or
 * more, sets none.
 */
int thread_start(struct thread *t, void (*fn)(void *arg), void *arg, const char *name) must_check;
/* Waits until fn has returned; its writes are visible then. 0 or a negative errno; once per
 * start. */
int thread_join(struct thread *t) must_check;

#endif
