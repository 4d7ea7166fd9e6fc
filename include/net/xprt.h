/*
 * A transport between a connection and its socket: TLS, or a scripted one in tests. A connection
 * without one reads and writes its socket directly (net/conn.c), at the cost of one pointer test.
 *
 * The user of a connection does not see the difference. conn_recv(), conn_send() and conn_shut()
 * use the transport; conn_want() and conn_is_ready() refer to the user's data and are translated
 * into what the socket has to be ready for, so that a transport may write while its user reads, and
 * vice versa. Bytes in the transport's memory count as readable, although no event reports them.
 * The handshake is part of the first reads and writes, or done before: conn_handshake().
 *
 * Everything runs on the worker that owns the connection.
 */
#ifndef TACIT_NET_XPRT_H
#define TACIT_NET_XPRT_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"
#include "event/loop.h"
#include "net/conn.h"

/* Queries about a transport; the result is text. */
enum xprt_query {
	XPRT_QUERY_NAME,        /* name of the transport: "TLS" */
	XPRT_QUERY_VERSION,     /* protocol version: "TLSv1.3" */
	XPRT_QUERY_CIPHER,
	XPRT_QUERY_SERVER_NAME, /* server name requested by the peer (SNI) */
	XPRT_QUERY_PROTOCOL,    /* negotiated protocol (ALPN) */
	XPRT_QUERIES
};

/*
 * The operations, called with the connection open. step, recv, send and shutdown return IO_AGAIN
 * when they have to wait; want() then returns for what.
 */
struct xprt_ops {
	/* Capabilities (XPRT_x of conn.h) of the socket that remain available. */
	unsigned int caps;
	/* Continues the handshake: IO_OK when it is complete (not called again then), IO_AGAIN,
	 * IO_EOF or IO_ERR. recv and send are not called before IO_OK. */
	enum io_result (*step)(struct conn *c);
	/* As conn_recv(): sets eof of the connection with the last bytes if the end is behind them.
	 * Sets x.holds: bytes are left in memory that recv would return now. */
	enum io_result (*recv)(struct conn *c, void *buf, size_t len, size_t *got);
	/*
	 * As conn_send(). IO_AGAIN: no byte was accepted; some may be in transit, so the next call
	 * must begin with the same bytes, in the same place or another, and may have more after
	 * them. Accepted bytes (*put) have been passed to the kernel.
	 */
	enum io_result (*send)(struct conn *c, const void *buf, size_t len, int more, size_t *put);
	/* Sends the closing message, before the FIN or the close. IO_OK, IO_ERR, or IO_AGAIN: it is
	 * called again, except after a close. */
	enum io_result (*shutdown)(struct conn *c);
	/* The readiness of the socket that continuing in this direction needs, EV_R or EV_W. 0: the
	 * user has to continue in the other direction first. */
	unsigned int (*want)(const struct xprt *x, unsigned int dir);
	/* 0, or -ERR_UNKNOWN: unknown (yet). *out is valid as long as the transport. */
	int (*query)(const struct conn *c, enum xprt_query what, struct str *out);
	/* The name of the server to ask for (SNI), before the first step. 0 or a negative reason.
	 * NULL: the transport has no names. */
	int (*set_name)(struct conn *c, const char *name);
	/* Frees the transport; called before the socket is closed. */
	void (*close)(struct conn *c);
};

/* Common part, embedded in the state of each transport. Initially zero except ops. */
struct xprt {
	const struct xprt_ops *ops;
	loop_fd_fn *fn;    /* the user's handler */
	void *owner;
	uint8_t holds;     /* set by the transport: see recv */
	uint8_t failure;   /* the same: enum conn_err, why step has failed; 0: unknown */
	/* Maintained by net/conn_xprt.c: */
	uint8_t wanted;    /* directions that the user wants */
	uint8_t is_up;     /* step has returned IO_OK */
	uint8_t ended;     /* the peer's FIN was seen */
	uint8_t drained;   /* the last read of the socket was short */
	uint8_t shutting;  /* shutdown has returned IO_AGAIN */
	uint8_t is_silent; /* the close is a reset or silent: no closing message */
};

/* Creates transports of one kind, for the connections of a listener or server. */
struct xprt_maker {
	/* A new transport for c, which is open and has not read or written, or NULL and a negative
	 * reason. c owns it from then on. */
	struct xprt *(*make)(const struct xprt_maker *m, const struct conn *c, int *reason);
};

/* Gives an open connection a transport made by m: after what the socket's first bytes were for
 * others, a PROXY header. Its handler and owner become fn and owner. 0 or a negative reason. */
int conn_begin_xprt(struct conn *c, loop_fd_fn *fn, void *owner, const struct xprt_maker *m)
	must_check;
/* True if the handshake of its transport is not complete. */
static inline int
conn_awaits_handshake(const struct conn *c)
{
	return c->xprt && !c->xprt->is_up;
}
/* Continues the handshake, which is otherwise part of the first reads and writes: IO_OK when it is
 * complete, IO_AGAIN, IO_EOF or IO_ERR. */
enum io_result conn_handshake(struct conn *c);
/* As conn_open(), with a transport made by m. */
int conn_open_over(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind, const struct xprt_maker *m) must_check;
/* The same; m NULL: without a transport. */
static inline int
conn_open_xprt(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind, const struct xprt_maker *m)
{
	return likely(!m) ? conn_open(c, l, fd, fn, owner, kind)
			  : conn_open_over(c, l, fd, fn, owner, kind, m);
}
/* Sets the name to ask the server for (SNI), before the handshake: 0, or a negative reason. */
int conn_set_name(struct conn *c, const char *name) must_check;
/* 0, or -ERR_UNKNOWN: the socket and most transports have no answer. */
int conn_query(const struct conn *c, enum xprt_query what, struct str *out) must_check;

#endif
