/* Stick tables of the process: entries that expire are removed, and those of previous worker
 * processes are taken over. First worker. */
#ifndef TACIT_APP_PROCESS_PROCESS_TABLES_H
#define TACIT_APP_PROCESS_PROCESS_TABLES_H

#include "base/compiler.h"
#include "base/memfile.h"
#include "event/timer.h"

struct process;
struct report;
struct sys;
struct table_follow;

/* The tables of a previous worker process. */
struct tables_former {
	struct memfile_view view;
	int has_ended;
	struct table_follow **follow; /* its tables, while it has not ended */
	unsigned int n_follow;
	uint64_t busy_ms;          /* when it last counted something */
};

struct process_tables {
	struct memfile own;        /* where the entries are */
	struct tables_former *former;
	unsigned int n_former;
	struct timer timer;
};

/* Takes a file of a previous process that the master has handed over, if it has tables. 0, or a
 * negative reason: it has none. */
int process_tables_open_former(struct process_tables *pt, struct sys *sys, int fd, int has_ended)
	must_check;
/* Under a master: makes the file for the entries, and gives it to the master. Without it they end
 * with the process, which is reported. */
void process_tables_open(struct process *p);
/* Copies the entries of previous processes, before others run. */
void process_tables_restore(struct process *p);
/* Begins to remove what expires. 0 or -ERR_NOMEM. */
int process_tables_start(struct process *p) must_check;
/* No table is used any more. */
void process_tables_close(struct process_tables *pt);

#endif
