/*
 * The operations of a direction on the bytes that the pump (direction.c) moves: plain TCP, TCP
 * inspected by rules, a head or a body of HTTP/1. direction.ops selects it and changes during the
 * exchange. A NULL operation behaves like plain TCP: every byte is forwarded unchanged.
 */
#ifndef TACIT_PROXY_RELAY_RELAY_OPS_H
#define TACIT_PROXY_RELAY_RELAY_OPS_H

#include "proxy/model/session.h"

/* The result of a step of I/O. */
struct io_step {
	enum stream_event ev; /* raised by the caller of the handler; NONE: none */
	int more;              /* another step is worth trying */
};

static inline struct io_step
io_stop(void)
{
	return (struct io_step){ STREAM_EV_NONE, 0 };
}

static inline struct io_step
io_more(int more)
{
	return (struct io_step){ STREAM_EV_NONE, more };
}

static inline struct io_step
io_event(enum stream_event ev)
{
	return (struct io_step){ ev, 0 };
}

/* The state of a message after some of its bytes. */
enum relay_status {
	RELAY_ON,   /* the message continues */
	RELAY_OVER, /* these were its last bytes */
	RELAY_BAD,  /* they are invalid */
	RELAY_EOF   /* the source has sent FIN */
};

struct relay_ops {
	/* Reads from the source itself, since the bytes must not be forwarded yet. NULL: the pump
	 * reads. Also called when the source is not ready and `lookahead` has bytes. */
	struct io_step (*read)(struct stream *s, int side);
	/* The time at which the wait of read() ends, TIMER_NEVER: it has none of its own; and what
	 * ends it then, or when another timeout has passed: returns the event that follows, or NONE
	 * if that timeout takes effect. NULL: it never waits. */
	uint64_t (*due)(const struct stream *s);
	enum stream_event (*late)(struct stream *s);
	/* Number of following bytes that need no parsing; UINT64_MAX: no limit. NULL: all. */
	uint64_t (*opaque)(const struct stream *s, int side);
	/* Number of bytes to read if `room` is available. */
	size_t (*reach)(const struct stream *s, int side, size_t room);
	/* Number of bytes of p[0..n), which are still in the kernel, that can be forwarded
	 * unchanged. 0: they have to be buffered; with p NULL: all of them. */
	size_t (*look)(const struct stream *s, int side, const char *p, size_t n);
	/* p[0..n) was read: *used of these bytes belong to the message, and *out bytes from p on
	 * are to be forwarded (fewer than *used if framing is removed). */
	enum relay_status (*step)(struct stream *s, int side, char *p, size_t n, size_t *used,
		size_t *out);
	/* As step(), with filters (relay/filter.h): the bytes to be forwarded are at *to. n 0: the
	 * source has ended; RELAY_OVER: and the message with it. */
	enum relay_status (*filter)(struct stream *s, int side, char *p, size_t n, size_t *used,
		char **to, size_t *out);
	/* Called when the bytes of a step other than RELAY_ON are forwarded. n bytes follow the
	 * message; rest NULL: still in the kernel. */
	enum stream_event (*end)(struct stream *s, int side, enum relay_status status,
		const char *rest, size_t n);
	/* True if a FIN may be sent with these bytes. over: they end the message. */
	int (*closes)(const struct stream *s, int side, int over);
	/* The sink accepts no more data. NONE: the session ends as in plain TCP. */
	enum stream_event (*fail)(struct stream *s, int side);
};

/* Plain TCP: no operation. */
extern const struct relay_ops relay_plain;

#endif
