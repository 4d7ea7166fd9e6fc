/*
 * Threads on the fake kernel: one runs at a time, until it has to wait; then the next one that can
 * run does, in the order in which they were started. Time advances when all of them wait. So a
 * program with threads is as deterministic as one without, if it starts and joins them between the
 * calls below.
 */
#ifndef TACIT_FAKE_TASKS_H
#define TACIT_FAKE_TASKS_H

/* The number of threads that this thread's kernel has known, before another one is started. */
unsigned int fake_threads(void);
/* Waits until the one that was started since is known, too. */
void fake_thread_started(unsigned int before);
/* Lets the others run around pthread_join(). */
void fake_thread_joins(void);
void fake_thread_joined(void);

#endif
