/*
 * Requests to other workers: each is a function of struct engine, wake_x (slots granted to their
 * sessions, frontends with free places, servers that have changed or moved ...). None is lost: if
 * a mailbox is full its owner is asked to check everything, which has to include a new request.
 */
#ifndef TACIT_APP_PROCESS_WAKE_WORKER_H
#define TACIT_APP_PROCESS_WAKE_WORKER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/timer.h"

/* Time for servers of rings and mailers at the end of a process: without progress, and in all. */
#define RINGS_DRAIN_MS 2000
#define RINGS_DRAIN_MAX_MS 10000

struct log_ring;

/* Rounds in the service manager's interval: an answer may be late by more than one. */
#define WATCHDOG_ROUNDS 4

struct watchdog {
	struct timer timer;
	uint64_t interval_ms;  /* between rounds; 0: there is no watchdog */
	_Atomic uint32_t round;
};

struct process;
struct rendezvous {
	unsigned int depth;       /* first worker only */
	_Atomic uint32_t arrived; /* workers that are paused in this round */
	_Atomic uint32_t round;   /* number of ends */
	uint64_t held;            /* number of pauses, for show activity */
	uint64_t since_ns;        /* start of the current pause */
	uint64_t longest_ns;      /* longest pause, for show activity */
};

struct mail;
struct worker;

/* Called before the worker's loop runs, if there are several workers. */
void wake_worker_enable(struct worker *w);
/* Sends a message that only asks `to` to check something: never blocks, never fails. If it does
 * not fit, `to` checks everything after emptying its mailbox. */
void wake_worker_post(struct worker *from, struct worker *to, const struct mail *m);
/* Called at the end of each turn: checks everything if a message did not fit. */
void wake_worker_catch_up(struct worker *w);

/* On the first worker's thread. Waits until every worker has finished its current work: about a
 * turn. Nested calls do nothing. */
void rendezvous_begin(struct process *p);
void rendezvous_end(struct process *p);
/* On a worker's own thread: waits for the end if a pause was requested. */
void rendezvous_attend(struct worker *w);

/* The interval between rounds from $WATCHDOG_USEC, or 0: no watchdog. $WATCHDOG_PID must be `pid`,
 * if it is there. Both may be NULL. */
uint64_t watchdog_interval(const char *usec, const char *watched, long pid);
/* Starts it, if there is an interval. 0 or -ERR_NOMEM. */
int watchdog_start(struct process *p) must_check;
void watchdog_stop(struct process *p);

/* Makes the files of rings, before privileges are dropped. 0, or -ERR_SYS after a report with the
 * place in the configuration. */
int rings_open_files(struct process *p) must_check;
/* Connects to the servers of all rings. 0, or a negative reason. */
int rings_start(struct process *p) must_check;
/* Collects what the workers have logged, and disconnects. Servers have RINGS_DRAIN_MS to take it,
 * and mailers to send their alerts; messages that are left are counted and reported. Closes their
 * files; if the start has failed the previous ones get their names back. The other threads have
 * ended. */
void rings_stop(struct process *p);
/* For struct log_sink.on_ring: arg is the worker. */
void rings_on_log(void *worker, struct log_ring *r);
/* Messages that rings have dropped. Any thread. */
uint64_t rings_dropped(const struct process *p);

#endif
