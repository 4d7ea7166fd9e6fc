/*
 * All workers at a standstill. Between begin and end every worker but the first waits at the point
 * of its turn where mail is handled: it holds no lock and no session is half dispatched, so the
 * first may read and change what is theirs. For what is rare: the operator's commands, the stop.
 */
#ifndef TACIT_APP_PROCESS_RENDEZVOUS_H
#define TACIT_APP_PROCESS_RENDEZVOUS_H

#include <stdatomic.h>
#include <stdint.h>

struct process;
struct worker;

struct rendezvous {
	unsigned int depth;       /* the first worker's alone */
	_Atomic uint32_t arrived; /* workers that stand still in this round */
	_Atomic uint32_t round;   /* counts the ends */
	uint64_t held;            /* how often, for show activity */
	uint64_t since_ns;        /* all stand still */
	uint64_t longest_ns;      /* that they did, for show activity */
};

/* On the first worker's thread. Waits until everybody has finished what he is at: about a turn.
 * Inside another one nothing happens. */
void rendezvous_begin(struct process *p);
void rendezvous_end(struct process *p);
/* On a worker's own thread: waits for the end, if it was called; otherwise nothing happens. */
void rendezvous_attend(struct worker *w);

#endif
