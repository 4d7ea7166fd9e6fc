/*
 * A worker: one loop, one engine, its share of the listeners, and its ledger, log targets and
 * trace. No other worker touches these while it runs.
 */
#ifndef TACIT_APP_PROCESS_WORKER_H
#define TACIT_APP_PROCESS_WORKER_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/thread.h"
#include "base/trace.h"
#include "event/loop.h"
#include "h2/h2_conn.h"
#include "proxy/model/session.h"

struct mailbox;
struct process;
struct tls_io;

struct worker {
	struct process *process;
	unsigned int index;  /* 0: the first, which also does the process's own work */
	struct sys *sys;     /* counts in the worker's ledger; the first worker uses the
			      * process's */
	struct sys own_sys;  /* for the other workers */
	struct log_sink log;
	int log_open;
	struct trace trace;
	uint64_t traced;     /* -d: records printed so far */
	struct loop *loop;   /* NULL before worker_open() */
	struct engine engine;
	struct h2_config h2_client, h2_server; /* of its HTTP/2 connections */
	struct tls_io *tls;      /* of its TLS connections; NULL: there are none */
	struct mailbox *mailbox; /* NULL: there is one worker */
	struct thread thread;    /* not for the first worker */
	int has_thread;          /* the thread runs */
	int leave;               /* the thread has to end */
	unsigned int coming;     /* connections that others have accepted for it; atomic */
	int behind;              /* a message did not fit: it has to check everything; atomic */
	uint32_t watchdog_round; /* that it has answered; atomic */
	int called;              /* a pause was requested; atomic */
	_Atomic uint64_t full_times; /* how often it became full */
	int full;            /* maxconn sessions are open: its frontends' listeners are held */
	struct ledger cleared; /* its part of process.cleared */
	uint64_t questions;  /* messages of the admin service that it has run */
};

/* Makes no system call. */
void worker_init(struct worker *w, struct process *p, unsigned int index);
/* Sends messages to the logs of `global` from now on, with our pid and this name. */
void worker_open_log(struct worker *w, const char *progname);
/* Creates the loop and the engine. 0 or a negative reason; worker_fini() must be called in any
 * case. */
int worker_open(struct worker *w) must_check;
/* Starts a thread that runs its loop until worker_leave(). 0 or -errno. */
int worker_run(struct worker *w) must_check;
/* Called by the first worker: ends the thread after it has handled its messages, and waits for
 * it. */
void worker_leave(struct worker *w, struct mailbox *from);
/* Binds the calling thread, the worker's, to the CPUs of `cpu-map`. */
void worker_bind_cpus(struct worker *w);
/* Runs one turn of its loop and the work after it. 0, or -errno of the wait. */
int worker_turn(struct worker *w) must_check;
/* Closes its loop, if all its sessions have ended, and its logs. */
void worker_fini(struct worker *w);

/* Number of sessions and of connections accepted by others for it; from any thread. */
static inline unsigned int
worker_load(const struct worker *w)
{
	return atomic_read(&w->engine.n_sessions) + atomic_read(&w->coming);
}

#endif
