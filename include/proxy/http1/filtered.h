/*
 * Bodies with filters (proxy/model/filter.h). One whose bytes they change loses its framing before
 * them, and is sent in chunks; to a client of HTTP/1.0 it ends with the connection. Private to
 * proxy.
 */
#ifndef TACIT_PROXY_HTTP1_FILTERED_H
#define TACIT_PROXY_HTTP1_FILTERED_H

#include "proxy/model/http_txn.h"

/* The filters of a request begin, before its head is written for the first time: what was read of
 * its body is lookahead again. */
void filtered_begin_request(struct stream *s);
/* The operations of a request that is sent to its server, which is connected. */
void filtered_send_request(struct stream *s);

/* The filters of a response begin, after its rules and before its framing becomes fields. */
void filtered_begin_response(struct stream *s);
/* The operations of its body. */
extern const struct relay_ops http_filtered_body_ops;

#endif
