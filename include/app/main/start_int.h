/* Declarations shared by the parts of the start. */
#ifndef TACIT_APP_MAIN_START_INT_H
#define TACIT_APP_MAIN_START_INT_H

#include "app/config/config.h"
#include "app/config/options.h"
#include "app/master/master.h"
#include "app/process/activation.h"
#include "app/process/daemon.h"
#include "app/process/former.h"
#include "app/process/inherited.h"
#include "app/process/master_link.h"
#include "app/process/process.h"
#include "app/process/report.h"
#include "base/sys.h"

/* Data that lives as long as the process. */
struct start {
	struct sys sys;
	struct options opts;
	struct config cfg;
	int config_is_gone;
	struct report report;
	struct sbuf startup; /* messages for `show startup-logs` */
	struct notify notify;
	struct daemon daemon;
	struct process process;
	int pid_fd;
	struct master_link link; /* in a worker process */
	int asks_master;         /* a server is the master's socket */
	struct inherited_sockets inherited;
	struct former former;
	struct activation activation;
	struct keep keep;        /* the files of previous ones */
	struct master master;    /* in the master */
	char *const *argv;
	const char *const *environment;
};

/* The process that serves, and the master; they return the exit code. */
int start_process(struct start *st);
/* Goes to the background if it is asked for. 1 in the process that continues; 0 and the exit code
 * in the one that ends. */
int start_background(struct start *st, int *code) must_check;
/* The pid file of a process that is not a master's worker process. NULL: none. */
const char *start_pidfile(const struct start *st);

/* Sets st->former from the options. */
void start_name_former(struct start *st);

#endif
