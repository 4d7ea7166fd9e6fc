/* Stick tables of the process: entries that expire are removed, and those of previous worker
 * processes are taken over. First worker. */
#ifndef TACIT_APP_PROCESS_PROCESS_TABLES_H
#define TACIT_APP_PROCESS_PROCESS_TABLES_H

#include <sys/types.h>

#include "base/compiler.h"
#include "base/memfile.h"
#include "event/timer.h"

/* The own file and pipe, and those of a previous process. */
#define TABLES_DESCRIPTORS 5u

struct process;
struct report;
struct sys;
struct table_follow;

/* The tables of a previous worker process. */
struct tables_former {
	struct memfile_view view;
	int has_ended;
	int counts;                /* what it counts is added; of others the latest one adds it */
	int is_closing;            /* it is not followed any more, and freed in turns */
	int fd, alive;             /* its file, its process_tables.alive[0]; -1: from a master */
	struct table_follow **follow; /* its tables, while it has not ended */
	unsigned int n_follow;
	uint64_t busy_ms;          /* when it last counted something */
};

struct process_tables {
	struct memfile own;        /* where the entries are */
	int alive[2];              /* a pipe whose end shows that of the process; 0: not yet */
	struct tables_former *former;
	unsigned int n_former;
	struct timer timer;
};

/* Under a master: makes the file for the entries, and gives it to the master. Without it they end
 * with the process, which is reported. */
void process_tables_open(struct process *p);
/* Without a master: takes the files that previous processes have passed (socket_pass.h). Those
 * that have passed nothing, since no address was in use, are asked. */
void process_tables_fetch(struct process *p);
/* The files that are passed to the next process: number i, from 0, and its name. -1: no more. */
int process_tables_passed(struct process *p, unsigned int i, const char **name);
/* Copies the entries of previous processes, before others run. */
void process_tables_restore(struct process *p);
/* Begins to remove what expires. 0 or -ERR_NOMEM. */
int process_tables_start(struct process *p) must_check;
/* This process has ended, which a master reports: one that was killed has left connections. */
void process_tables_on_end(struct process *p, pid_t pid);
/* Adds what previous processes have counted until now: the process ends, and the next one reads it
 * here. */
void process_tables_finish(struct process *p);
/* No table is used any more. */
void process_tables_close(struct process_tables *pt);

#endif
