/*
 * Updates of the OCSP response of one certificate file: the address of its responder, the answer,
 * and its use. On the first worker.
 */
#ifndef TACIT_APP_PROCESS_OCSP_JOB_H
#define TACIT_APP_PROCESS_OCSP_JOB_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "base/str.h"
#include "dns/resolvers.h"
#include "event/timer.h"
#include "net/addr.h"
#include "net/conn.h"
#include "tls/ocsp_responder.h"

/*
 * One request to an HTTP server over a connection of its own, and its response: for the process
 * itself. Never blocks; bounded in time and size. On the first worker.
 */

#define OCSP_FETCH_MS 10000   /* for all of it */
#define OCSP_FETCH_MAX 65536  /* bytes of a response with its head */

struct ocsp_fetch;

/* Called when the fetch has ended and its connection is closed. status: of the response, with its
 * body, which is valid during the call; 0: there was none. May begin another one. */
typedef void ocsp_fetched_fn(struct ocsp_fetch *f, unsigned int status, struct str body);

struct ocsp_fetch {
	struct loop *loop;
	struct conn conn;
	struct timer timer;
	struct sbuf out;          /* the request */
	size_t sent;
	char *in;                 /* allocated while it runs */
	size_t got;
	ocsp_fetched_fn *on_end;
};

#define OCSP_UPDATES_AT_ONCE 4 /* responders that are asked at the same time */
struct ocsp_job;
struct ocsp_updates {
	struct list jobs;           /* struct ocsp_job; none is removed before the end */
	unsigned int n_running;
	struct timer timer;         /* the next one that is due */
	int is_on;
};

struct process;
struct tls_cert;
struct tls_entry;

/* The result of an update; the numbers are HAProxy's (ssl_ocsp_status). */
enum ocsp_result {
	OCSP_NONE,
	OCSP_UPDATED,
	OCSP_HTTP_ERROR,
	OCSP_NO_RESPONSE,
	OCSP_REFUSED,
	OCSP_NOT_INSERTED,
	OCSP_RESULTS
};

enum ocsp_job_state { OCSP_IDLE, OCSP_RESOLVING, OCSP_FETCHING };

/* The updates of one certificate file. */
struct ocsp_job {
	struct list link;           /* ocsp_updates.jobs */
	struct process *process;
	struct tls_entry *entry;
	struct tls_cert *cert;      /* that it is about now; a reference */
	enum ocsp_job_state state;
	uint64_t due_ms;            /* loop clock; TIMER_NEVER: not by itself */
	unsigned int in_row;        /* failures since the last success */
	unsigned int successes, failures;
	int64_t last_s;             /* wall clock; 0: none yet */
	enum ocsp_result result;
	struct tls_ocsp_responder to;
	struct dns_watch watch;
	struct ocsp_fetch fetch;
};

/* A line of `show ssl ocsp-updates`; nothing for a certificate that is not updated by itself. */
void ocsp_job_show(const struct ocsp_job *j, struct sbuf *out);

/* When all else has started. */
void ocsp_updates_start(struct process *p);
/* Ends what is under way. May not have been started. */
void ocsp_updates_stop(struct process *p);
/* The certificate of this entry, or its bind lines, have changed. */
void ocsp_updates_look(struct process *p, struct tls_entry *e);
/* Asks for this one now. 0, or a negative reason with why (TLS_WHY_MAX). */
int ocsp_update_now(struct process *p, struct tls_entry *e, char *why) must_check;

#endif
