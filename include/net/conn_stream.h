/*
 * A connection without a descriptor: one of the streams that another connection carries (HTTP/2).
 * It is an open conn whose transport knows its readiness, where otherwise the loop does. The
 * functions of conn.h work on it; what they report about a socket is "none", and
 * conn_socket() finds that of the connection below.
 *
 * The carrier is what moves its bytes: it owns the struct conn_stream, supplies xprt_ops (step()
 * and want() are not called) and reports events. They are delivered to the user's handler, with fd
 * -1, by a task: in the turn in which the carrier reports them, if it does so before that turn's
 * end.
 *
 * Everything runs on the worker that owns both connections.
 */
#ifndef TACIT_NET_CONN_STREAM_H
#define TACIT_NET_CONN_STREAM_H

#include "net/xprt.h"

/* Effect of its close on the connection that carries it, with its other streams. */
enum conn_stream_end {
	CONN_STREAM_ALONE,  /* nothing */
	CONN_STREAM_ENDS,   /* it is closed */
	CONN_STREAM_DROPS   /* the same without notifying the peer (net/silent_drop.h) */
};

struct conn_stream {
	struct xprt x;     /* conn.xprt */
	struct task task;  /* delivers `news` */
	struct loop *loop;
	const struct conn *below; /* the connection that carries it; NULL: none any more */
	uint8_t ready;     /* EV_R | EV_W: a try is believed to succeed */
	uint8_t news;      /* EV_x reported and not delivered */
	uint8_t seen;      /* EV_RDHUP | EV_HUP | EV_ERR since it was opened */
	uint8_t is_unprocessed; /* it was reset, and the peer has done nothing for it */
	uint8_t is_malformed;   /* it was reset, since what the peer has sent is invalid */
	uint8_t ends_below;     /* enum conn_stream_end */
	uint16_t idle_tries; /* consecutive deliveries without progress: see EV_SPIN */
	int err;           /* errno that conn_take_error() returns after EV_ERR */
};

/*
 * Opens c as a stream of `below` and gives it its handler. It is not ready for anything yet. st is
 * initialized except for x.ops, and stays valid until ops->close.
 */
void conn_stream_open(struct conn *c, struct conn_stream *st, const struct conn *below,
	loop_fd_fn *fn, void *owner);
/* The carrier reports EV_x: EV_R, EV_W: a try may succeed; EV_RDHUP: the peer's end is behind the
 * bytes; EV_ERR: it was reset, with st->err set. */
void conn_stream_report(struct conn_stream *st, uint32_t ev);
/* The carrier knows that a try would fail. */
static inline void
conn_stream_block(struct conn_stream *st, unsigned int dirs)
{
	st->ready &= (uint8_t)~dirs;
}

/* The stream of a connection without a descriptor. */
static inline struct conn_stream *
conn_stream_of(const struct conn *c)
{
	return (struct conn_stream *)c->xprt;
}

/* The close of c, a client's connection, closes the one that carries it, if there is one. */
static inline void
conn_end_below_on_close(struct conn *c)
{
	if (conn_is_stream(c))
		conn_stream_of(c)->ends_below = CONN_STREAM_ENDS;
}

/* True if it is one that was reset, and the peer says that it has done nothing for it. */
static inline int
conn_is_unprocessed(const struct conn *c)
{
	return conn_is_stream(c) && conn_stream_of(c)->is_unprocessed;
}

/* True if it is one that was reset for what the peer has sent: an invalid head, or frame. */
static inline int
conn_is_malformed(const struct conn *c)
{
	return conn_is_stream(c) && conn_stream_of(c)->is_malformed;
}

/* --- for net/conn.c and net/conn_xprt.c --- */

/* A read or write has moved bytes. */
static inline void
conn_stream_progress(struct conn_stream *st)
{
	st->idle_tries = 0;
}

#endif
