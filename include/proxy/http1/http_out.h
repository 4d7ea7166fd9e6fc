/*
 * Heads to be sent: hop-by-hop fields are removed and those for the next hop are added (RFC 9110,
 * 7.6), and the head is written in front of the body. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_HTTP_OUT_H
#define TACIT_PROXY_HTTP1_HTTP_OUT_H

#include "proxy/model/http_txn.h"

/*
 * Maximum number of names in all Connection fields of a message (tacit.cfg(5)). Each name is
 * searched among all fields, so that a head full of names would cost as much as thousands of
 * others. Normal messages have one or two. A message with more is rejected and counted in ereq or
 * eresp.
 */
#define HTTP_HOP_NAMES_MAX 32

/* Removes the fields named in Connection before rules run, so that a peer cannot remove fields
 * added by rules. 0; -1: too many names. */
int http_strip_named(struct http_head *h) must_check;
/* Removes fields about the sender's connection. 1: an upgrade is requested, otherwise 0. */
int http_strip_hop(struct http_head *h);
/* To be called after rules changed the request: moves its texts into the client's buffer, in front
 * of the body. 0 or -ERR_RANGE: there is no room. */
int http_settle_request(struct session *s) must_check;
/* Prepares the request to be sent to the chosen server; once. 0 or -ERR_RANGE: there is no room. */
int http_place_request(struct session *s) must_check;
/* The same for a complete response head, final or informational, whose text ends at this offset of
 * the server's buffer. */
int http_place_response(struct session *s, uint32_t end) must_check;

#endif
