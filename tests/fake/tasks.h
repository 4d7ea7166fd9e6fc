/*
 * Threads on the fake kernel: one runs at a time, until it has to wait; then the next one that can
 * run does, in the order in which they were started. Time advances when all of them wait. So a
 * program with threads is as deterministic as one without, if it starts and joins them between the
 * calls below.
 */
#ifndef TACIT_FAKE_TASKS_H
#define TACIT_FAKE_TASKS_H

#include <pthread.h>

/* The number of threads that this thread's kernel has known, before another one is started. */
unsigned int fake_threads(void);
/* Waits until the one that was started since is known, too. */
void fake_thread_started(unsigned int before);
/* This thread is the first of this process from now on, which is not that of the first thread. */
void fake_thread_is_process(unsigned int process);
/* Lets the others run around pthread_join(). */
void fake_thread_joins(pthread_t other);
void fake_thread_joined(void);

#endif
