/*
 * Heads to be sent: fields for the next hop are added (RFC 9110, 7.6; http/hop.h drops those of the
 * hop before), and the head is written in front of the body. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_HTTP_OUT_H
#define TACIT_PROXY_HTTP1_HTTP_OUT_H

#include "proxy/model/http_txn.h"

/* Moves the texts of a request that rules changed into the client's buffer, in front of the body,
 * which makes way if they have grown. 0 or -ERR_RANGE: there is no room. */
int http_settle_request(struct stream *s) must_check;
/* The same of a final response whose body is waited for: it is the lookahead. */
int http_settle_response(struct stream *s) must_check;
/* Prepares the request to be sent to the chosen server; once. 0 or -ERR_RANGE: there is no room. */
int http_place_request(struct stream *s) must_check;
/* The same for a complete response head, final or informational, whose text ends where the pending
 * bytes of the server's direction begin, and end. */
int http_place_response(struct stream *s) must_check;

#endif
