/*
 * One request to an HTTP server over a connection of its own, and its response: for the process
 * itself. Never blocks; bounded in time and size. On the first worker.
 */
#ifndef TACIT_APP_PROCESS_OCSP_FETCH_H
#define TACIT_APP_PROCESS_OCSP_FETCH_H

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"
#include "event/timer.h"
#include "net/addr.h"
#include "net/conn.h"

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

void ocsp_fetch_init(struct ocsp_fetch *f, struct loop *l, ocsp_fetched_fn *on_end);
/* Takes over the request, also when it fails. 0, or a negative reason: on_end() is not called. */
int ocsp_fetch_start(struct ocsp_fetch *f, const struct addr *to, struct sbuf *request)
	must_check;
/* Without on_end(). May not run. */
void ocsp_fetch_stop(struct ocsp_fetch *f);

#endif
