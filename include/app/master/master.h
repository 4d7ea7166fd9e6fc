/*
 * The master: a process without network input that starts worker processes, keeps their listening
 * sockets open for its whole life, and replaces a worker process by one with a new configuration.
 * The new one reads the configuration, takes the sockets and reports that it is ready; only then
 * the previous one is signalled to stop. If it does not get ready nothing changes for the previous
 * one.
 */
#ifndef TACIT_APP_MASTER_MASTER_H
#define TACIT_APP_MASTER_MASTER_H

#include <stdint.h>

#include "app/master/fd_store.h"
#include "app/master/master_cli.h"
#include "app/master/spawn.h"
#include "app/process/daemon.h"
#include "app/process/former.h"
#include "app/process/report.h"
#include "app/process/signals.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/sys.h"
#include "event/loop.h"

enum {
	MASTER_STABLE_MS = 1000, /* a process that served this long and ends is replaced at once */
	MASTER_DELAY_MS = 100, /* before the second attempt to replace one; then doubled */
	MASTER_DELAY_MAX_MS = 10000,
	MASTER_KILL_MS = 5000,   /* for the end after SIGTERM; then SIGKILL */
	MASTER_REEXEC_WAIT_MS = 5000, /* for clients of the master's socket */
	MASTER_LOG_MAX = 1 << 20, /* bytes of a startup log that are kept */
	MASTER_VERSION_MAX = 32,
	MASTER_MESSAGES_MAX = 32 /* of a worker process that are read in a turn of the loop */
};

enum master_state {
	MASTER_STARTING, /* the first worker process is not ready yet */
	MASTER_RUNNING,
	MASTER_STOPPING, /* the worker processes have been signalled to stop */
	MASTER_OVER
};

enum worker_state {
	WORKER_STARTING,
	WORKER_CURRENT,
	WORKER_LEAVING  /* signalled to stop */
};

/* The identity of the file at a path. */
struct file_id {
	dev_t dev;
	ino_t ino; /* 0: unknown */
};

/* A worker process. */
struct worker_process {
	struct list link;
	struct master *master;
	enum worker_state state;
	struct spawned own;
	unsigned int reloads; /* that it has survived */
	uint64_t started_ms;  /* loop clock; from when it was ready on, since then */
	int is_reload;        /* started by a reload, not for one that had died */
	char version[MASTER_VERSION_MAX]; /* of its program; "" until it is reported */
	unsigned int state_version; /* MASTER_STATE_VERSION of its program; 0: none */
	struct file_id program;     /* that was to be executed */
	int asks_master;            /* a server of its configuration is the master's socket */
	int was_refused;            /* by that socket, which was reported */
};

/* Settings copied from the first configuration, which the master does not keep. */
struct master_settings {
	int quiet; /* of its report */
	int insecure_caps, insecure_setuid, insecure_syscalls, set_dumpable; /* confine.h */
};

struct master {
	struct sys *sys;
	const struct report *report; /* its pid is the master's */
	struct notify notify;
	struct daemon *daemon;       /* notified when the first worker process is ready */
	struct spawn_conf spawn;
	struct former *former;       /* signalled to stop when the first worker process is ready */
	char *pidfile;               /* NULL: none; freed by the caller */
	struct master_settings settings;
	int pid_fd;                  /* open until it is written, -1 then */
	enum master_state state;
	struct loop *loop;
	struct signals signals;
	struct fd_store store;
	struct master_cli cli;
	uint64_t started_ms;         /* loop clock */
	struct list workers;         /* struct worker_process, the latest last */
	struct timer respawn_timer;
	struct timer kill_timer;
	struct timer reexec_timer;
	uint64_t reexec_latest_ms;   /* loop clock */
	unsigned int failures;       /* of worker processes in a row */
	unsigned int max_reloads;    /* mworker-max-reloads; UINT32_MAX: none */
	int exit_on_failure;
	int is_hard;                 /* the previous worker process ends at its success */
	int is_hard_next;            /* the same for the reload that begins next */
	int reload_again;            /* a reload was requested during another one */
	unsigned int n_reloads, n_failed_reloads;
	int reload_failed;           /* the latest one */
	char reason[256];            /* why, "" if it did not fail */
	char *startup_log;           /* of the latest start; NULL: none */
	int stop_signal;             /* the signal that requested the stop */
	int exit_code;
};

/*
 * Begins: opens the pid file and the connection to the service manager, blocks signals, and forks
 * the first worker process. In it: 0, with *link_fd and *stderr_fd. In the master: 1. Or a negative
 * reason that was reported.
 */
int master_start(struct master *m, const char *notify_path, int *link_fd, int *stderr_fd)
	must_check;
/*
 * Continues as the master that has executed this program, with its state: that of the descriptor
 * whose number was in $TACIT_MASTER_STATE. 0, or a negative reason that was reported.
 */
int master_resume(struct master *m, const char *notify_path, const char *state_fd) must_check;
/* Runs until all worker processes have ended; returns the exit code. */
int master_run(struct master *m);

/* --- parts of the master, each in a file of its own --- */

/* Stops all worker processes with this signal; the master ends with the last of them. */
void master_stop(struct master *m, int sig);
/* Adds a worker process that was forked. NULL when memory is out: it was killed. */
struct worker_process *master_add_worker(struct master *m, const struct spawned *own);
void master_drop_worker(struct worker_process *w);
/* The worker process with this pid; NULL: none. */
struct worker_process *master_find_pid(const struct master *m, pid_t pid);
/* Sends it a message with this descriptor, which stays open here. 0 or more, or -errno. */
long master_send_fd(const struct worker_process *w, const char *text, int fd) must_check;
/* Sends it a signal; that it cannot is reported. */
void master_signal(const struct worker_process *w, int sig);
/* Collects the worker processes that have ended. */
void master_reap(struct master *m);
/* The worker process that serves; the one that starts; NULL: none. */
struct worker_process *master_find_worker(const struct master *m, enum worker_state state);
/* Starts a reload, or notes that one is to follow the current one. */
void master_reload(struct master *m);
/* Timer: replaces a worker process that has died. */
void master_on_respawn(struct timer *t);
/* True if the process serves, hence is known to work, and runs another program; the file may have
 * changed since it was executed. */
int master_runs_newer(const struct worker_process *w);
/* Timer: executes the new program, once nothing is in progress that would be lost. */
void master_on_reexec(struct timer *t);

#endif
