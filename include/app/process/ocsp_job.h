/*
 * Updates of the OCSP response of one certificate file: the address of its responder, the answer,
 * and its use. On the first worker.
 */
#ifndef TACIT_APP_PROCESS_OCSP_JOB_H
#define TACIT_APP_PROCESS_OCSP_JOB_H

#include <stdint.h>

#include "app/process/ocsp_fetch.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "dns/lookup.h"
#include "tls/ocsp_responder.h"

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

/* NULL when memory is out. */
struct ocsp_job *ocsp_job_new(struct process *p, struct tls_entry *e) must_check;
/* Ends it if it is under way. */
void ocsp_job_free(struct ocsp_job *j);
/* Begins an update of an idle job. ocsp_updates_on_end() follows, maybe before this returns. */
void ocsp_job_start(struct ocsp_job *j);
/* When to ask again, on the loop's clock: before the response expires, and not earlier than in so
 * many seconds. */
uint64_t ocsp_job_next(const struct ocsp_job *j, uint32_t least_s);
/* A line of `show ssl ocsp-updates`; nothing for a certificate that is not updated by itself. */
void ocsp_job_show(const struct ocsp_job *j, struct sbuf *out);

#endif
