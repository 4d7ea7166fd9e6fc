/*
 * A subrequest: a request that a rule makes before the client's request continues (http-request
 * auth-request). It is a session of its own, whose frontend and backend are the backend asked, so
 * that balancing, queues, idle connections, retries, timeouts, counters and logs are those of any
 * request. Its client is a connection without a descriptor, whose transport keeps the response:
 * http1/subrequest_xprt.c. The session is made in session/session.c.
 *
 * On the worker of the stream whose rule waits.
 */
#ifndef TACIT_PROXY_MODEL_SUBREQUEST_H
#define TACIT_PROXY_MODEL_SUBREQUEST_H

#include "base/compiler.h"
#include "base/sbuf.h"
#include "http/head.h"
#include "net/conn_stream.h"
#include "proxy/model/stream_extras.h"

/* The response, as far as it is known. */
enum subrequest_state {
	SUBREQUEST_PENDING,
	SUBREQUEST_FAILED,   /* there is none, or it is not complete */
	SUBREQUEST_COMPLETE
};

struct subrequest {
	struct conn_stream link;   /* conn.xprt of its client's connection */
	struct stream *parent;     /* whose rule waits; NULL: it has ended */
	const struct rule *by;
	uint8_t is_open;           /* that connection is open */
	uint8_t state;             /* enum subrequest_state */
	uint8_t lacks_body;        /* the body is too long, and missing */
	/* The response: its head, whose texts and fields it owns, and its body without framing, if
	 * the status is not 2xx. */
	struct http_head head;
	char *text;
	struct sbuf body;
};

/* The subrequest of this rule; NULL: none. */
static inline struct subrequest *
subrequest_of(const struct stream *s, const struct rule *by)
{
	struct subrequest *q = s->extras ? s->extras->subrequest : NULL;

	return q && q->by == by ? q : NULL;
}

/* True if a rule of the stream waits for one. */
static inline int
subrequest_is_pending(const struct stream *s)
{
	const struct subrequest *q = s->extras ? s->extras->subrequest : NULL;

	return q && q->state == SUBREQUEST_PENDING;
}

#endif
