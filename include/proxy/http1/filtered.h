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

/* The filters of a request begin to which a cache responds (cache_reply.h): it has no body. */
void filtered_begin_stored_request(struct stream *s);
/* The filters of a stored response begin, behind its rules, and its framing becomes fields. 0 or
 * negative. */
int filtered_begin_stored(struct stream *s, struct http_head *head) must_check;
/* Runs p[0..n) of its body through them. last: no more follow. Returns the bytes to be sent, of
 * which there are *out. */
char *filtered_run_stored(struct stream *s, char *p, size_t n, int last, size_t *out);

#endif
