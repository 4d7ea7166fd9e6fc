/*
 * What one direction of a session does with the bytes that the pump (direction.c) moves: plain TCP,
 * TCP whose first bytes rules look at, a head or a body of HTTP/1. direction.ops says which; it
 * changes as the exchange goes on. A NULL operation does what plain TCP does: every byte is
 * forwarded as it is.
 */
#ifndef TACIT_PROXY_RELAY_RELAY_OPS_H
#define TACIT_PROXY_RELAY_RELAY_OPS_H

#include "proxy/model/session.h"

/* What a step of I/O has come to. */
struct io_step {
	enum session_event ev; /* to be raised by the caller of the handler; NONE: nothing */
	int more;              /* another step is worth trying */
};

static inline struct io_step
io_stop(void)
{
	return (struct io_step){ SESSION_EV_NONE, 0 };
}

static inline struct io_step
io_more(int more)
{
	return (struct io_step){ SESSION_EV_NONE, more };
}

static inline struct io_step
io_event(enum session_event ev)
{
	return (struct io_step){ ev, 0 };
}

/* Where bytes that were read leave their message. */
enum relay_status {
	RELAY_ON,   /* the message goes on */
	RELAY_OVER, /* they were its last */
	RELAY_BAD,  /* they break its syntax */
	RELAY_EOF   /* the source has sent FIN */
};

struct relay_ops {
	/* Reads from the source by itself: the bytes are not to be forwarded yet. NULL: the pump
	 * reads. Called, too, when the source is not ready and `lookahead` holds bytes. */
	struct io_step (*read)(struct session *s, int side);
	/* How many of the next bytes nobody needs to look at; UINT64_MAX: no bound. NULL: all. */
	uint64_t (*opaque)(const struct session *s, int side);
	/* How many bytes to read where `room` is possible. */
	size_t (*reach)(const struct session *s, int side, size_t room);
	/* How many of p[0..n), which are still in the kernel, can be forwarded as they are. 0: they
	 * have to be in a buffer; with p NULL: all of them. */
	size_t (*look)(const struct session *s, int side, const char *p, size_t n);
	/* p[0..n) was read: *used of it belongs to the message, and *out of it, from p on, is to be
	 * forwarded (less than *used when framing is taken out). */
	enum relay_status (*step)(struct session *s, int side, char *p, size_t n, size_t *used,
		size_t *out);
	/* The bytes of a step that did not return RELAY_ON are forwarded. n bytes are behind the
	 * message; rest NULL: still in the kernel. */
	enum session_event (*end)(struct session *s, int side, enum relay_status status,
		const char *rest, size_t n);
	/* May the sink's FIN ride on the bytes that are written now? over: they end the message. */
	int (*closes)(const struct session *s, int side, int over);
	/* The sink takes nothing more. NONE: the session ends as plain TCP does. */
	enum session_event (*fail)(struct session *s, int side);
};

/* Plain TCP: no operation. */
extern const struct relay_ops relay_plain;

#endif
