/*
 * Heads as they leave: what concerns two neighbours only is taken out, what the next neighbour has
 * to know is put in (RFC 9110, 7.6), and the head is written in front of the body. Private to
 * proxy.
 */
#ifndef TACIT_PROXY_HTTP_OUT_H
#define TACIT_PROXY_HTTP_OUT_H

#include "proxy/http_txn.h"

/* The fields that are about the sender's connection go, Connection and what it names. Before rules
 * run, so that nobody can name what they add. 1: it asks for an upgrade, 0; -1: too many names. */
int http_strip_hop(struct http_head *h);
/* Makes the request ready to be sent to the server that was chosen; once. 0 or -ERR_RANGE: there is
 * no room for it. */
int http_place_request(struct session *s) must_check;
/* The same for a complete response head, final or interim, whose text ends at that offset of the
 * server's buffer. */
int http_place_response(struct session *s, uint32_t end) must_check;

#endif
