/*
 * The bodies of one exchange in mode http. The pump (direction.c) asks which of the bytes it read
 * belong to the message. A session in mode tcp has no transaction, and a tunnel needs no parsing.
 * Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_EXCHANGE_H
#define TACIT_PROXY_HTTP1_EXCHANGE_H

#include "http/h1_message.h"
#include "proxy/model/http_txn.h"
#include "proxy/relay/relay_ops.h"

/* Operations of a direction in an exchange: the request, or one that is copied while it is sent,
 * the response's body, a local reply. For the response's head: http_response_ops (response.h). */
extern const struct relay_ops http_request_ops, http_copied_request_ops, http_body_ops,
	http_reply_ops;
/* relay_ops.opaque of directions whose bytes need parsing: 0. */
uint64_t exchange_opaque_none(const struct stream *s, int side);

/* True after 101, or a successful CONNECT. */
static inline int
exchange_is_tunnel(const struct http_txn *t)
{
	return t->h1[SERVER]->body.framing == HTTP_BODY_TUNNEL;
}

/* True if all bytes are forwarded without parsing: mode tcp, or a tunnel. */
static inline int
exchange_is_plain(const struct stream *s)
{
	return !s->txn || exchange_is_tunnel(s->txn);
}

/* The body of that side's message begins: if it is known to be long it is a bulk transfer. */
void exchange_foresee(struct stream *s, int side);
/* True if the whole request has been read. */
int exchange_has_request(const struct http_txn *t);
/*
 * True if the client has sent data after its request that gets no response, and its connection is
 * about to be closed. Closing a socket with unread data resets the connection, which may destroy
 * the response (RFC 9112, 9.6); so may closing while a long response is unacknowledged. Not checked
 * for a client that asked for the close itself.
 */
int exchange_needs_lingering_close(struct stream *s);
/* True if that direction's message is incomplete; it must not look complete to the receiver. */
int http_is_cut(const struct stream *s, int side);
/* Processes bytes that were read with a head: those that belong to the message become pending, and
 * its end is reported to the direction. 0, or -1: they are invalid. */
int exchange_take_ahead(struct stream *s, int side) must_check;

/* Number of bytes to read of that side's body, when `room` is available. */
size_t exchange_reach(const struct stream *s, int side, size_t room);
/* Reads and keeps the body that the client has sent so far while there is no server. */
enum stream_event exchange_collect(struct stream *s) must_check;
/* True if the client has sent its request and nothing more, and no head of a response has come. */
int exchange_awaits_response(const struct stream *s);
/* True if a client that closes while it waits for its response is to be noticed (manual, option
 * abortonclose). */
static inline int
exchange_watches_client(const struct stream *s)
{
	return s->txn && (s->be->options & OPT_ABORTONCLOSE) && exchange_awaits_response(s);
}

/* The client's side is readable: 1 if it has closed (abortonclose), or 0. */
int exchange_client_left(struct stream *s);
/* Sets the status of a local reply; returns the event for it. */
enum stream_event exchange_fail(struct stream *s, unsigned int status, char cause, char phase)
	must_check;
/* Bytes of that side's body are invalid: returns the event of a local reply, or NONE and the
 * message is truncated. */
enum stream_event exchange_reject_body(struct stream *s, int side) must_check;

/* --- retries of requests: an idle connection was closed, or because of retry-on --- */

/*
 * True if the client should decide about a retry: both its connection and the server's have
 * carried earlier requests. Clients know that a persistent connection can be closed at any time
 * (RFC 9112, 9.3.1) and which requests can be repeated. The connection is closed without a
 * response, as HAProxy does.
 */
int l7_retry_is_left_to_client(const struct stream *s);
/* True if a failure of this server may cause a retry. */
int l7_retry_can_replay(const struct stream *s);
/*
 * L7_RETRY if retry-on includes this failure, no rule forbids it, attempts are left and all that
 * was sent of the request is buffered; else NONE. After CONN_FAILURE, which is also REFUSED_STREAM
 * and GOAWAY of HTTP/2, no rule is asked, and the request need not have been read to its end.
 */
enum stream_event l7_retry_for(struct stream *s, enum http_retry what) must_check;
/* The same for a response with this status. */
enum stream_event l7_retry_for_status(struct stream *s, unsigned int status) must_check;

#endif
