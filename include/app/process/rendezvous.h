/*
 * Pauses all workers. Between begin and end every worker except the first waits at the point of
 * its turn where messages are handled: it holds no lock and no session is being dispatched, so the
 * first worker may read and change its data. For rare operations: admin commands, the stop.
 */
#ifndef TACIT_APP_PROCESS_RENDEZVOUS_H
#define TACIT_APP_PROCESS_RENDEZVOUS_H

#include <stdatomic.h>
#include <stdint.h>

struct process;
struct worker;

struct rendezvous {
	unsigned int depth;       /* first worker only */
	_Atomic uint32_t arrived; /* workers that are paused in this round */
	_Atomic uint32_t round;   /* number of ends */
	uint64_t held;            /* number of pauses, for show activity */
	uint64_t since_ns;        /* start of the current pause */
	uint64_t longest_ns;      /* longest pause, for show activity */
};

/* On the first worker's thread. Waits until every worker has finished its current work: about a
 * turn. Nested calls do nothing. */
void rendezvous_begin(struct process *p);
void rendezvous_end(struct process *p);
/* On a worker's own thread: waits for the end if a pause was requested. */
void rendezvous_attend(struct worker *w);

#endif
