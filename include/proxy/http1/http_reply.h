/* State REPLY: sends local replies, and discards the rest of the request. Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_HTTP_REPLY_H
#define TACIT_PROXY_HTTP1_HTTP_REPLY_H

#include "proxy/model/http_txn.h"

/* Makes the reply for s->txn->status and starts sending it. */
void http_reply_send(struct stream *s);
/* In REPLY, the session's task: a local service has generated more. */
enum stream_event http_reply_task(struct stream *s) must_check;
/* I/O events of the client in REPLY: returns the event that follows. */
enum stream_event http_reply_io(struct stream *s, int side, uint32_t ev) must_check;
/* The same in TARPIT. */
enum stream_event http_tarpit_io(struct stream *s, int side, uint32_t ev) must_check;
/* The state of REPLY: ANSWERED, CLIENT_GONE, or NONE. */
enum stream_event http_reply_outcome(const struct stream *s);
/* The reply is sent and the request is incomplete: its rest is read and discarded for a while, so
 * that no reset destroys the reply (RFC 9112, 9.6). Or the transport's closing message waits for
 * the client's socket, for as long as the client may be idle. */
int http_reply_drains(const struct stream *s);
/* True if a server has responded, and the request is not complete yet. */
int http_reply_awaits_rest(const struct stream *s);
uint64_t http_reply_deadline(const struct stream *s);

#endif
