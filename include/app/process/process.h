/*
 * The process: its configuration, its workers and its phases: bind, start, serve, stop. The first
 * worker handles signals, stats sockets and the service manager.
 */
#ifndef TACIT_APP_PROCESS_PROCESS_H
#define TACIT_APP_PROCESS_PROCESS_H

#include <stdint.h>

#include "app/config/config.h"
#include "app/config/limits.h"
#include "app/process/daemon.h"
#include "app/process/former.h"
#include "app/process/keep.h"
#include "app/process/master_link.h"
#include "app/process/ocsp_job.h"
#include "app/process/report.h"
#include "app/process/signals.h"
#include "app/process/socket_pass.h"
#include "app/process/state_file.h"
#include "app/process/wake_worker.h"
#include "app/process/worker.h"
#include "base/compiler.h"
#include "base/sys.h"
#include "event/timer.h"
#include "net/listener.h"
#include "proxy/check/external.h"
#include "proxy/model/service.h"
#include "proxy/resolve/resolve.h"
#include "tls/tls_counts.h"

struct process;
struct proxy;
struct sbuf;

/*
 * Pausing, resuming and stopping one frontend while the process serves. On the first worker's
 * thread; the other workers are paused for the time of the calls that change the sockets.
 */

/* Its sockets stop listening, and its sessions continue (net/listener.h, listener_suspend). Log
 * messages report it. */
void frontend_pause(struct process *p, struct proxy *fe);
/* 0, or a negative reason: an address is busy, which is logged, and it stays paused. */
int frontend_resume(struct process *p, struct proxy *fe) must_check;
/* Closes its sockets for good. Its sessions end after their current exchange. The message for the
 * terminal is appended to `lines`, since a write may take long; NULL: it is written. */
void frontend_stop(struct process *p, struct proxy *fe, struct sbuf *lines);
/* hard-stop-after is over: logs how many of its sessions are closed, if any are left. */
void frontend_note_hard_stop(struct process *p, struct proxy *fe);

enum {
	PROCESS_STATUS_MS = 10000, /* interval of STATUS= messages to the service manager */
	PROCESS_KILL_MS = 2000     /* maximum time for closing all sessions */
};

enum process_state {
	PROCESS_NEW,
	PROCESS_BOUND,    /* all sockets listen, no connection is accepted yet */
	PROCESS_RUNNING,
	PROCESS_GRACE,    /* a soft stop was requested, still accepting (global `grace`), or
			   * handshakes are in progress */
	PROCESS_STOPPING, /* listeners are closed, sessions may finish */
	PROCESS_KILLING,  /* sessions are being closed */
	PROCESS_GONE      /* time is up: exit with sessions open */
};

struct admin;
struct cli_rights;
struct checker;
struct process_peers;

/* The service of the stats sockets: app/admin/admin.h. */
struct process_service {
	/* Takes over accepting on all admin listeners. NULL when memory is out. */
	struct admin *(*open)(struct worker *w);
	/* Serves a connection of the master's, which it owns. */
	void (*serve)(struct admin *a, int fd, const struct cli_rights *rights);
	/* A soft stop has begun: connections get little time for what is still to come. */
	void (*drain)(struct admin *a);
	/* True while a connection is owed an answer. */
	int (*is_owing)(const struct admin *a);
	/* Closes its connections; the listeners belong to the process. */
	void (*close)(struct admin **a);
	/* Before the start: takes room for the numbers that outlive the process
	 * (keep_numbers()). */
	int (*keep)(struct process *p);
	/* Writes them. */
	void (*note)(struct process *p);
};

/* The master's report about its reloads; without a master all is 0. */
struct process_reloads {
	unsigned int n, failed;
	unsigned int last_failed; /* the configuration in use is not that of the files */
};

struct process {
	enum process_state state;
	struct sys *sys;           /* the first worker's ledger counts its calls */
	struct config *cfg;
	struct report *report;
	struct notify *notify;
	struct master_link *master; /* NULL: there is none */
	struct keep keep;          /* what outlives it */
	struct keep_numbers info;  /* those of `show info`: app/admin/info.c */
	struct inherited_sockets *inherited; /* NULL: none; set before process_bind() */
	struct former *former;     /* the processes that it replaces; NULL: none */
	struct socket_pass pass;   /* of the sockets to the process that replaces it */
	struct limits limits;
	struct resolve resolve;    /* names of servers */
	struct engine_shared shared; /* shared by the workers' engines */
	struct tls_shared tls;     /* the same of their TLS connections */
	struct worker *workers;
	unsigned int n_workers;
	const char *pidfile;       /* that is removed at the end; NULL: none */
	unsigned int confined;     /* bits of enum confinement */
	struct process_reloads reloads;
	int is_replaced;           /* by another process, as the master has said */
	int running;               /* the other workers' threads are running */
	uint64_t full_log_ms;      /* time of the last log line about maxconn; atomic */
	int log_failed;            /* a log target has failed, which was reported */
	int draining;              /* no new sessions: a worker without sessions notifies the
				    * first */
	struct rendezvous meet;
	struct signals signals;
	struct state_texts states; /* of servers, until the start */
	const struct process_service *service; /* may be NULL */
	struct services services;  /* local ones: responses of their own */
	const struct local_service *stats, *metrics; /* may be NULL */
	struct admin *admin;       /* NULL: no stats socket */
	struct external_helper helper; /* runs the commands of external checks */
	struct checker *checker;   /* since the start */
	struct process_peers *peers; /* since the start; NULL: there are none */
	struct timer status_timer;
	struct watchdog watchdog;
	struct timer tickets_timer; /* changes the keys of TLS tickets */
	struct ocsp_updates ocsp;  /* since the start */
	struct timer stop_timer;   /* end of grace, then hard-stop-after */
	uint64_t refusing_ms;      /* when the soft stop began to refuse clients; 0: not yet */
	const char *node;          /* global `node`, or hostname */
	char hostname[65];
	uint64_t started_ms;       /* loop clock */
	uint64_t started_wall_ns;
	struct ledger at_start;    /* calls before the first connection */
	struct ledger_mark cleared; /* at the start, or by `clear syscalls` */
	struct ledger_mark *cleared_accounts; /* the same by account; owned */
	struct ledger_mark shown;  /* by the last `show syscalls`, or cleared since */
	int debug;                 /* -d */
	int start_error;
	int failed;                /* a worker's loop has failed */
	unsigned int failed_worker; /* that worker's index, or 0 for the first; atomic */
	int exit_signal;           /* the signal that requested the stop; 0: none */
	unsigned int stop_signals; /* number of SIGTERM and SIGINT so far */
};

/*
 * The caller owns the arguments, which must outlive the process. Makes no system call. `service`,
 * `stats` and `metrics` may be set afterwards, before process_start(). 0 or -ERR_NOMEM.
 */
int process_init(struct process *p, struct sys *sys, struct config *cfg,
		 struct report *report, struct notify *notify) must_check;
/* Sends messages to the logs of `global` from now on, with our pid and this name. */
void process_open_log(struct process *p, const char *progname);
/* Binds all listeners, the stats sockets last and only if nothing failed before; every failure is
 * reported. 0, or -ERR_SYS when there was one. */
int process_bind(struct process *p) must_check;
/* Opens the workers, starts accepting, and starts the threads of all workers except the first. 0,
 * or a negative reason that was reported. */
int process_start(struct process *p) must_check;
/* Serves until it has stopped and all sessions are closed. */
void process_run(struct process *p);
/* SIGUSR1 starts a soft stop, SIGTERM and SIGINT a hard one, and a second one exits at once;
 * SIGTTOU passes the listening sockets to the process that sent it; others are logged. Under a
 * master SIGINT is ignored: a terminal sends it to both. */
void process_on_signal(struct process *p, int sig, pid_t from);
/* Ends the other workers' threads: 0 when all sessions have ended, 1 when time ran out and nothing
 * of the process may be freed. */
int process_join(struct process *p) must_check;
/* Closes whatever is still open. */
void process_fini(struct process *p);

/* The sessions of all workers, including connections being handed over, and places of accepts that
 * have not ended. */
static inline unsigned int
process_sessions(const struct process *p)
{
	return gate_taken(&p->shared.gate);
}

/* Copies listeners for the workers that accept on them, according to `thread` and `shards`. 0 or
 * -ERR_NOMEM. */
int process_make_listeners(struct process *p) must_check;
/* New connections to the frontends are ignored from now on. 1: handshakes are in progress, which a
 * close of the listeners would reset; 0: there are none, or they have had time to end. */
int process_refuse_new(struct process *p) must_check;
/* Accepts the connections in the backlogs of the frontends' listeners before those are closed. All
 * workers are paused. */
void process_drain_listeners(struct process *p);
/* Closes the frontends' listeners; with all, also those of the stats sockets. */
void process_close_listeners(struct process *p, int all);
/* Closes the listeners of these lines: struct bind_conf. */
void process_close_binds(struct process *p, struct list *binds);
/* Calls fn for each listener of the frontends that are not disabled, then of the stats sockets. */
typedef void process_listener_fn(struct listener *ln, void *arg);
void process_each_listener(struct process *p, process_listener_fn *fn, void *arg);
/* The same for the listeners of these bind lines. */
unsigned int process_listeners(const struct process *p);

/* The worker that does the process's own work. */
static inline struct worker *
process_first(const struct process *p)
{
	return &p->workers[0];
}

/* Its loop, for timers of the process; and its log. */
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
