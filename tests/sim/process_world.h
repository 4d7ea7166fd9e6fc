/*
 * A whole process on the fake kernel, read from the text of a configuration, with its admin socket,
 * logs and service manager. A script (sim/process_script.h) moves the clients and servers around
 * it. All that these see is noted with the virtual time at which they see it. With a master, which
 * the world plays, it can be replaced: then several processes run, each with its own threads.
 */
#ifndef TACIT_SIM_PROCESS_WORLD_H
#define TACIT_SIM_PROCESS_WORLD_H

#include <stdio.h>

#include "app/process/process.h"
#include "base/sbuf.h"
#include "base/thread.h"
#include "fake/kernel.h"
#include "net/listener_key.h"

struct process_ends;
struct process_world;

#define PROCESS_WORLD_ADMIN 1999 /* port of the admin socket */
#define PROCESS_WORLD_LOG 514    /* UDP port that logs may be sent to */
#define PROCESS_WORLD_NOTIFY "/run/notify"
#define PROCESS_WORLD_RUNS 4     /* processes, one after the other */
#define PROCESS_WORLD_KEPT 32    /* descriptors that the master keeps */

/* One process. */
struct process_run {
	struct process_world *w;
	unsigned int number; /* from 0 */
	struct sys sys;
	struct config cfg;
	struct report report;
	struct notify notify;
	struct master_link link;
	struct inherited_sockets inherited;
	struct fake_sock *master; /* the master's end of its link; NULL: there is none */
	struct process p;
	int is_open;         /* it has a configuration */
	int has_process, has_ended;
	struct thread thread; /* of those after the first */
};

struct process_world {
	struct fake *k;
	struct process_run run[PROCESS_WORLD_RUNS];
	unsigned int n_runs;
	const char *config;
	struct process_ends *ends;
	uint64_t began, until; /* ns; the scenario is over at `until` */
	uint64_t watchdog_ms;  /* the service manager's; 0: it has none */
	int is_notified;       /* there is a service manager */
	int has_master;
	/* The listeners that the master holds. */
	struct {
		char name[LISTENER_KEY_MAX];
		int fd;
	} kept[PROCESS_WORLD_KEPT];
	unsigned int n_kept;
	int is_over;           /* nothing is noted any more */
	int mem_faults;        /* allocation faults apply from the start on: sim/faults.h */
	struct sbuf trace;
	char why[400];         /* the first error; "": none */
};

/* Makes the kernel; files, limits and the ends that are there at the start come next. */
void process_world_open(struct process_world *w);
/* Reads the configuration, binds, and starts to serve. 0, or -1 with w->why. */
int process_world_start(struct process_world *w, const char *config);
/* Serves until all processes have ended, or w->until is reached: then they are stopped hard. */
void process_world_run(struct process_world *w);
/* The master starts another process, and stops the last one softly when that is ready. 0, or -1
 * when there is no master. */
int process_world_reload(struct process_world *w) must_check;
/* Checks that nothing is left open. 0, or -1 with w->why. */
int process_world_close(struct process_world *w);

/* Adds a line to the trace, with the time since the start. */
void process_world_note(struct process_world *w, const char *fmt, ...) fmt_printf(2, 3);
/* Records an error, unless there was one before. */
void process_world_error(struct process_world *w, const char *fmt, ...) fmt_printf(2, 3);

#endif
