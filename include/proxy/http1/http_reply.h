/* REPLY: answers of our own, and what is still to come of a request that nobody waits for. Private
 * to proxy. */
#ifndef TACIT_PROXY_HTTP1_HTTP_REPLY_H
#define TACIT_PROXY_HTTP1_HTTP_REPLY_H

#include "proxy/model/http_txn.h"

/* Makes the answer of s->txn->status and begins to send it. */
void http_reply_send(struct session *s);
/* Events of the client in REPLY: what follows. */
enum session_event http_reply_io(struct session *s, int side, uint32_t ev) must_check;
/* The same in TARPIT. */
enum session_event http_tarpit_io(struct session *s, int side, uint32_t ev) must_check;
/* What REPLY has come to: ANSWERED, CLIENT_GONE, or NONE. */
enum session_event http_reply_outcome(const struct session *s);
/* The answer is out and the request is not over: its rest is read and thrown away for a while, so
 * that no reset takes the answer back (RFC 9112, 9.6). */
int http_reply_drains(const struct session *s);
uint64_t http_reply_deadline(const struct session *s);

#endif
