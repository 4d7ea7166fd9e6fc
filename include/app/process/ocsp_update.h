/*
 * OCSP responses that are asked for (ocsp-update): for each certificate file that wants it, its
 * responder is asked before the response has expired. All on the first worker; other workers are
 * paused only while a response is exchanged.
 */
#ifndef TACIT_APP_PROCESS_OCSP_UPDATE_H
#define TACIT_APP_PROCESS_OCSP_UPDATE_H

#include "base/compiler.h"
#include "base/list.h"
#include "event/timer.h"

#define OCSP_UPDATES_AT_ONCE 4 /* responders that are asked at the same time */

struct ocsp_job;
struct process;
struct tls_entry;

struct ocsp_updates {
	struct list jobs;           /* struct ocsp_job; none is removed before the end */
	unsigned int n_running;
	struct timer timer;         /* the next one that is due */
	int is_on;
};

/* When all else has started. */
void ocsp_updates_start(struct process *p);
/* Ends what is under way. May not have been started. */
void ocsp_updates_stop(struct process *p);
/* The certificate of this entry, or its bind lines, have changed. */
void ocsp_updates_look(struct process *p, struct tls_entry *e);
/* Asks for this one now. 0, or a negative reason with why (TLS_WHY_MAX). */
int ocsp_update_now(struct process *p, struct tls_entry *e, char *why) must_check;
/* Called by a job: it is idle again, with its result. */
void ocsp_updates_on_end(struct ocsp_job *j);

#endif
