/*
 * The response of a local service (model/service.h), on the session's worker: its head, and the
 * body as it is generated. It is sent by http_reply.c. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_SERVICE_REPLY_H
#define TACIT_PROXY_HTTP1_SERVICE_REPLY_H

#include "proxy/model/http_txn.h"

/* Has the head generated: the session's task follows. */
void service_reply_begin(struct stream *s);
/* True if the head has been made, also in vain. */
int service_reply_has_head(const struct stream *s);
/* The job has come back with the head: writes it (local_reply.h), or sets txn->status to 500. */
void service_reply_make_head(struct stream *s);
/* True if parts of a body follow what is in the buffer. */
int service_reply_follows(const struct stream *s);
/*
 * Puts the next part of the body into the buffer, which ends the direction's message if it is the
 * last one. 0: there is none so far. If the service fails the direction is aborted.
 */
int service_reply_fill(struct stream *s);

#endif
