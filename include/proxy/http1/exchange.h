/*
 * One exchange of mode http: how far the bodies reach. The pump (direction.c)
 * asks here what of the bytes it read belongs to the message; a session in mode tcp has no
 * transaction, and neither has a tunnel anything to judge. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_EXCHANGE_H
#define TACIT_PROXY_HTTP1_EXCHANGE_H

#include "proxy/model/http_txn.h"

/* A buffer that is wanted and cannot be had is asked for again after so many ms. */
#define HTTP_MEMORY_WAIT_MS 50

/* What comes of bytes that were judged. */
enum exchange_step {
	EXCHANGE_ON,   /* the message goes on */
	EXCHANGE_OVER, /* that was its end */
	EXCHANGE_BAD
};

/* Is the next thing from that side a head, not a body? Of a session in RELAY. */
static inline int
http_awaits_head(const struct session *s, int side)
{
	return s->txn && side == SERVER && !http_has_answer(s->txn);
}

/* Is an own answer due, in the place of the server's? */
static inline int
http_answer_is_due(const struct http_txn *t)
{
	return t->status && !http_has_answer(t);
}

/* A head cannot be read for want of a buffer: session_deadline() has it tried again. */
void exchange_wait_for_buffer(struct session *s, int side);
/* Are all bytes just forwarded: mode tcp, or a tunnel? */
int exchange_is_plain(const struct session *s);
/*
 * Is what comes next from that side payload, whatever it says, as far as exchange_left() goes, and
 * needed for nothing else than to be sent on? Then nobody has to see it. Always so in mode tcp.
 */
int exchange_is_opaque(const struct session *s, int side);
/* How much of that side's message is to come, where it says so; UINT64_MAX elsewhere. */
uint64_t exchange_left(const struct session *s, int side);
/* n such bytes went by: 1 when they were the last of the message. */
int exchange_pass(struct session *s, int side, size_t n);
/* The body of that side's message begins: if it is known to be long it is a stream. */
void exchange_foresee(struct session *s, int side);
/* Has all of the request been read? */
int exchange_has_request(const struct http_txn *t);
/*
 * Nobody will answer what the client has said behind its request, and its connection is about to
 * end. Closed with that unread, or more on its way, it would be reset, and the answer that it has
 * not read be lost (RFC 9112, 9.6). One that asked for the end itself is not looked at.
 */
int exchange_needs_lingering_close(struct session *s);
/* Did that direction's message not come to its end? Nobody may take it for a whole one then. */
int http_is_cut(const struct session *s, int side);
/* May the connection to the server be used again, as far as is known before the response? */
int exchange_may_reuse(const struct session *s);
/* The bytes behind a head that are there already: they join what is pending as far as they belong
 * to the message; its end is told to the direction. 0, or -1: they are bad. */
int exchange_take_ahead(struct session *s, int side) must_check;

/* --- for the pump --- */

/* How many bytes to read, when `reach` would be possible. */
size_t exchange_reach(const struct session *s, int side, size_t reach);
/*
 * p[0..got) was read from that side: *used of it belongs to the message, and *out of it, from p on,
 * is to be forwarded (less than *used when framing is taken out).
 */
enum exchange_step
exchange_parse_body(struct session *s, int side, char *p, size_t got, size_t *used, size_t *out);
/*
 * The same of bytes that are only looked at: *n of them belong to the message. What was before is
 * in
 * *before, and no more than `put` of them were taken after all.
 */
enum exchange_step exchange_look(struct session *s, int side, char *p, size_t *n,
	struct http_body *before);
void exchange_look_again(struct session *s, int side, const char *p, size_t put,
	const struct http_body *before);
/* Looking is not enough there: framing is taken out. */
int exchange_needs_buf(const struct session *s, int side);
/* What follows from a step once its bytes are forwarded; rest: bytes behind the message. */
void
exchange_step(struct session *s, int side, enum exchange_step step, const char *rest, size_t n);
/* The source has ended: is that where the message ends? */
int exchange_ends_here(const struct session *s, int side);
/* It has not: the direction is broken. */
void exchange_cut(struct session *s, int side);
/* Will the sink be closed as soon as the rest is flushed? */
int exchange_closes(const struct session *s, int side);
/* Reads what the client has sent of the body so far and keeps it: there is no server yet. */
void exchange_collect(struct session *s);
/* Is the end of a client that waits for its response worth noticing (manual, option
 * abortonclose)? */
int exchange_watches_client(const struct session *s);
/* It can be read: has it ended? */
int exchange_is_left(struct session *s);
/* The session answers itself; the machine is told when this dispatch is over (session_settle). */
void exchange_fail(struct session *s, unsigned int status, char cause, char phase);
/* Bytes of that side's body were refused: an answer of our own, or a cut. */
void exchange_is_bad(struct session *s, int side);

#endif
