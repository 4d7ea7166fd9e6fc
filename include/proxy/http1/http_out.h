/*
 * Heads as they leave: what concerns two neighbours only is taken out, what the next neighbour has
 * to know is put in (RFC 9110, 7.6), and the head is written in front of the body. Private to
 * proxy.
 */
#ifndef TACIT_PROXY_HTTP1_HTTP_OUT_H
#define TACIT_PROXY_HTTP1_HTTP_OUT_H

#include "proxy/model/http_txn.h"

/*
 * Names that all Connection fields of a message may list (tacit.cfg(5)). Each is looked for among
 * all fields, so that a head of nothing but names would cost as much as thousands of others. Who
 * sends one names one or two. Messages with more are counted as bad ones: ereq, eresp.
 */
#define HTTP_HOP_NAMES_MAX 32

/* What Connection names goes, before rules run: nobody can name what they add. 0; -1: too many. */
int http_strip_named(struct http_head *h) must_check;
/* The fields that are about the sender's connection go. 1: it asks for an upgrade, 0. */
int http_strip_hop(struct http_head *h);
/* Rules have changed the request: its texts are moved into the client's buffer, in front of the
 * body. 0 or -ERR_RANGE: there is no room for it. */
int http_settle_request(struct session *s) must_check;
/* Makes the request ready to be sent to the server that was chosen; once. 0 or -ERR_RANGE: there is
 * no room for it. */
int http_place_request(struct session *s) must_check;
/* The same for a complete response head, final or interim, whose text ends at that offset of the
 * server's buffer. */
int http_place_response(struct session *s, uint32_t end) must_check;

#endif
