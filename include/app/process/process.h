/*
 * The process: its configuration, its workers, and the life of it all: bind, start, serve, stop.
 * What is done once for everybody (signals, stats sockets, service manager) the first worker does.
 */
#ifndef TACIT_APP_PROCESS_PROCESS_H
#define TACIT_APP_PROCESS_PROCESS_H

#include <stdint.h>

#include "app/config/config.h"
#include "app/config/limits.h"
#include "app/process/notify.h"
#include "app/process/rendezvous.h"
#include "app/process/report.h"
#include "app/process/signals.h"
#include "app/process/worker.h"
#include "base/compiler.h"
#include "base/sys.h"
#include "event/timer.h"

enum {
	PROCESS_STATUS_MS = 10000, /* between STATUS= lines to the service manager */
	PROCESS_KILL_MS = 2000     /* most that ending every session may take */
};

enum process_state {
	PROCESS_NEW,
	PROCESS_BOUND,    /* all sockets listen in the kernel, nothing is accepted */
	PROCESS_RUNNING,
	PROCESS_GRACE,    /* a soft stop was asked for, still accepting (global `grace`) */
	PROCESS_STOPPING, /* listeners are closed, sessions may end by themselves */
	PROCESS_KILLING,  /* sessions are being ended */
	PROCESS_GONE      /* no time is left: leave with what is open */
};

struct admin;

/* What serves the stats sockets: app/admin/admin.h. */
struct process_service {
	/* Takes over the accepting of all admin listeners. NULL when memory is out. */
	struct admin *(*open)(struct worker *w);
	/* Closes its connections; the listeners are the process's. */
	void (*close)(struct admin **a);
};

struct process {
	enum process_state state;
	struct sys *sys;           /* its ledger is the first worker's */
	struct config *cfg;
	const struct report *report;
	struct notify *notify;
	struct limits limits;
	struct engine_shared shared; /* what the workers' engines have in common */
	struct worker *workers;
	unsigned int n_workers;
	int running;               /* the other workers' threads run */
	int log_failed;            /* a log target did, and it was said */
	int draining;              /* no new sessions: who has none left tells the first */
	struct rendezvous meet;
	struct signals signals;
	const struct process_service *service; /* may be NULL */
	struct admin *admin;       /* NULL: no stats socket */
	struct timer status_timer;
	struct timer stop_timer;   /* end of grace, then hard-stop-after */
	const char *node;          /* global `node`, or hostname */
	char hostname[65];
	uint64_t started_ms;       /* loop clock */
	uint64_t started_wall_ns;
	struct ledger at_start;    /* calls made before the first connection */
	int debug;                 /* -d */
	int start_error;
	int failed;                /* a worker's loop could not go on */
	unsigned int failed_worker; /* whose, if not the first's, or 0; atomic */
	int exit_signal;           /* that asked for the stop; 0: none */
	unsigned int stop_signals; /* SIGTERM and SIGINT so far */
};

/*
 * The caller owns what is given, which outlives the process. Makes no system call. `service` may be
 * set afterwards, before process_start(). 0 or -ERR_NOMEM.
 */
int process_init(struct process *p, struct sys *sys, struct config *cfg,
		 const struct report *report, struct notify *notify) must_check;
/* Messages go to the logs of `global` from now on, under our pid and this name. */
void process_open_log(struct process *p, const char *progname);
/* Binds every listener, stats sockets last and only without a failure so far; every failure is
 * reported. 0, or -ERR_SYS when there was one. */
int process_bind(struct process *p) must_check;
/* Opens the workers, starts to accept, and starts the threads of all but the first. 0, or a
 * negative reason that was reported. */
int process_start(struct process *p) must_check;
/* Serves until it has stopped and nothing is open any more. */
void process_run(struct process *p);
/* Stops accepting; sessions end by themselves, or at hard-stop-after. */
void process_soft_stop(struct process *p);
/* Stops accepting and ends every session. */
void process_hard_stop(struct process *p);
/* SIGUSR1 stops softly, SIGTERM and SIGINT hard and the second of them at once; others are
 * logged. */
void process_on_signal(struct process *p, int sig);
/* The end of a time that a stop may take: grace, hard-stop-after, PROCESS_KILL_MS. */
void process_on_stop_timer(struct timer *t);
/* Ends the other workers' threads: 0 when all sessions have ended, 1 when there was no time for
 * that, and nothing of the process may be freed. */
int process_join(struct process *p) must_check;
/* Closes whatever is still open. */
void process_fini(struct process *p);

/* Of all workers, those on their way from one to another among them. */
unsigned int process_sessions(const struct process *p);

/* Copies listeners for the workers that accept on them, as `thread` and `shards` say. 0 or
 * -ERR_NOMEM. */
int process_make_listeners(struct process *p) must_check;
/* Takes whoever has connected to the frontends' listeners, before those are closed. All workers
 * stand still. */
void process_drain_listeners(struct process *p);
/* Closes the frontends' listeners; with all, those of the stats sockets too. */
void process_close_listeners(struct process *p, int all);
/* Calls fn for each listener of the frontends that are not disabled, then of the stats sockets. */
typedef void process_listener_fn(struct listener *ln, void *arg);
void process_each_listener(struct process *p, process_listener_fn *fn, void *arg);
unsigned int process_listeners(const struct process *p);

/* The worker that does the process's own business. */
static inline struct worker *
process_first(const struct process *p)
{
	return &p->workers[0];
}

/* Its loop, for what is timed once for everybody; and its log. */
static inline struct loop *
process_loop(const struct process *p)
{
	return process_first(p)->loop;
}

static inline struct log_sink *
process_log(const struct process *p)
{
	return &process_first(p)->log;
}

#endif
