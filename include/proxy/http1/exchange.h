/*
 * One exchange of mode http: how far the bodies reach. The pump (direction.c)
 * asks here what of the bytes it read belongs to the message; a session in mode tcp has no
 * transaction, and neither has a tunnel anything to judge. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_EXCHANGE_H
#define TACIT_PROXY_HTTP1_EXCHANGE_H

#include "proxy/model/http_txn.h"
#include "proxy/relay/relay_ops.h"

/* What the directions of an exchange do: the request's, the response's body, a reply of our own.
 * The response's head: http_response_ops (response.h). */
extern const struct relay_ops http_request_ops, http_body_ops, http_reply_ops;
/* relay_ops.opaque of directions whose bytes somebody has to see: 0. */
uint64_t exchange_opaque_none(const struct session *s, int side);

/* Are all bytes just forwarded: mode tcp, or a tunnel? */
int exchange_is_plain(const struct session *s);
/* The body of that side's message begins: if it is known to be long it is a stream. */
void exchange_foresee(struct session *s, int side);
/* Has all of the request been read? */
int exchange_has_request(const struct http_txn *t);
/*
 * Nobody will answer what the client has said behind its request, and its connection is about to
 * end. Closed with that unread, or more on its way, it would be reset, and the answer that it has
 * not read be lost (RFC 9112, 9.6). So may one that has not read all of a long answer. One that
 * asked for the end itself is not looked at.
 */
int exchange_needs_lingering_close(struct session *s);
/* Did that direction's message not come to its end? Nobody may take it for a whole one then. */
int http_is_cut(const struct session *s, int side);
/* May the connection to the server be used again, as far as is known before the response? */
int exchange_may_reuse(const struct session *s);
/* The bytes behind a head that are there already: they join what is pending as far as they belong
 * to the message; its end is told to the direction. 0, or -1: they are bad. */
int exchange_take_ahead(struct session *s, int side) must_check;

/* How many bytes of that side's body to read, when `room` would be possible. */
size_t exchange_reach(const struct session *s, int side, size_t room);
/* Reads what the client has sent of the body so far and keeps it: there is no server yet. */
enum session_event exchange_collect(struct session *s) must_check;
/* Is the end of a client that waits for its response worth noticing (manual, option
 * abortonclose)? */
int exchange_watches_client(const struct session *s);
/* The client's side can be read: 1 when it has ended (abortonclose), or 0. */
int exchange_client_left(struct session *s);
/* The session answers itself with that status: the event that says so. */
enum session_event exchange_fail(struct session *s, unsigned int status, char cause, char phase)
	must_check;
/* Bytes of that side's body were refused: the event of a local reply, or NONE and the message is
 * cut. */
enum session_event exchange_reject_body(struct session *s, int side) must_check;

#endif
