/*
 * A whole process on the fake kernel, read from the text of a configuration, with its admin socket,
 * logs and service manager. A script (sim/process_script.h) moves the clients and servers around
 * it. All that these see is noted with the virtual time at which they see it.
 */
#ifndef TACIT_SIM_PROCESS_WORLD_H
#define TACIT_SIM_PROCESS_WORLD_H

#include <stdio.h>

#include "app/process/process.h"
#include "base/sbuf.h"
#include "fake/kernel.h"

struct process_ends;

#define PROCESS_WORLD_ADMIN 1999 /* port of the admin socket */
#define PROCESS_WORLD_LOG 514    /* UDP port that logs may be sent to */
#define PROCESS_WORLD_NOTIFY "/run/notify"

struct process_world {
	struct fake *k;
	struct sys sys;
	struct config cfg;
	struct report report;
	struct notify notify;
	struct process p;
	struct process_ends *ends;
	uint64_t began, until; /* ns; the scenario is over at `until` */
	uint64_t watchdog_ms;  /* the service manager's; 0: it has none */
	int is_notified;       /* there is a service manager */
	int is_over;           /* nothing is noted any more */
	int mem_faults;        /* allocation faults apply from the start on: sim/faults.h */
	struct sbuf trace;
	char why[400];         /* the first error; "": none */
};

/* Makes the kernel; files, limits and the ends that are there at the start come next. */
void process_world_open(struct process_world *w);
/* Reads the configuration, binds, and starts to serve. 0, or -1 with w->why. */
int process_world_start(struct process_world *w, const char *config);
/* Serves until the process has ended, or w->until is reached: then it is stopped hard. */
void process_world_run(struct process_world *w);
/* Ends it, and checks that nothing is left open. 0, or -1 with w->why. */
int process_world_close(struct process_world *w);

/* Adds a line to the trace, with the time since the start. */
void process_world_note(struct process_world *w, const char *fmt, ...) fmt_printf(2, 3);
/* Records an error, unless there was one before. */
void process_world_error(struct process_world *w, const char *fmt, ...) fmt_printf(2, 3);

#endif
