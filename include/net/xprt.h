/*
 * A transport between a connection and its socket: TLS, or a scripted one in tests. A connection
 * without one reads and writes its socket directly (net/conn.c) and pays for a test of one pointer.
 *
 * The user of a connection does not see which it is. conn_recv(), conn_send() and conn_shut() go
 * through the transport; conn_want() and conn_is_ready() speak of the user's bytes, and are
 * translated into what the socket has to be ready for. So a transport may write while its user
 * reads, and the other way round. Bytes that it holds in memory count as readable, though no event
 * comes for them. A handshake runs as part of the first reads and writes.
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

/* What a user may ask of a transport; the answer is text. */
enum xprt_query {
	XPRT_QUERY_NAME,        /* "TLS": what it is */
	XPRT_QUERY_VERSION,     /* of its protocol, as "TLSv1.3" */
	XPRT_QUERY_CIPHER,
	XPRT_QUERY_SERVER_NAME, /* that the peer asked for (SNI) */
	XPRT_QUERY_PROTOCOL,    /* that was agreed on (ALPN) */
	XPRT_QUERIES
};

/*
 * The operations. They are called with the connection open. step, recv, send and shutdown return
 * IO_AGAIN when they have to wait, and then want() says for what.
 */
struct xprt_ops {
	/* XPRT_x of conn.h that stay possible on the socket; the others are refused. */
	unsigned int caps;
	/* Goes on with the handshake: IO_OK when it is over (it is not called again), IO_AGAIN,
	 * IO_EOF or IO_ERR. No recv or send comes before IO_OK. */
	enum io_result (*step)(struct conn *c);
	/* As conn_recv(). Sets x.holds: are bytes left in memory that recv would return now? */
	enum io_result (*recv)(struct conn *c, void *buf, size_t len, size_t *got);
	/*
	 * As conn_send(). IO_AGAIN means that none of the bytes are taken yet; some may be on their
	 * way, so the next call brings the same bytes, in the same place or another, and perhaps
	 * more behind them. What was taken (*put) is with the kernel.
	 */
	enum io_result (*send)(struct conn *c, const void *buf, size_t len, int more, size_t *put);
	/* Says to the peer that no more comes, before the FIN or the close. IO_OK, IO_ERR, or
	 * IO_AGAIN: it is called again, though not after a close. */
	enum io_result (*shutdown)(struct conn *c);
	/* What the socket has to be ready for so that this direction, EV_R or EV_W, can go on.
	 * 0: the user has to go on in the other direction first. */
	unsigned int (*want)(const struct xprt *x, unsigned int dir);
	/* 0, or -ERR_UNKNOWN: there is no answer (yet). *out lives as long as the transport. */
	int (*query)(const struct conn *c, enum xprt_query what, struct str *out);
	/* Frees the transport, before the socket is closed. */
	void (*close)(struct conn *c);
};

/* The common part, which a transport embeds in its own state. Zero but for ops at first. */
struct xprt {
	const struct xprt_ops *ops;
	loop_fd_fn *fn;    /* the user's handler */
	void *owner;
	uint8_t holds;     /* the transport's: see recv */
	/* net/xprt.c's: */
	uint8_t wanted;    /* directions, the user's */
	uint8_t is_up;     /* step has said IO_OK */
	uint8_t ended;     /* the peer's FIN is known */
	uint8_t drained;   /* the last read of the socket was short */
	uint8_t shutting;  /* shutdown has said IO_AGAIN */
	uint8_t is_silent; /* the close is a reset or a silent one: nothing is said before it */
};

/* Makes transports of one kind: what a listener or a server has whose connections use one. */
struct xprt_maker {
	/* A new transport for c, which is open and has read and written nothing, or NULL and a
	 * negative reason. c owns it from then on. */
	struct xprt *(*make)(const struct xprt_maker *m, const struct conn *c, int *reason);
};

/* As conn_open(), with a transport that m makes. */
int conn_open_over(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind, const struct xprt_maker *m) must_check;
/* The same; m NULL: without one. */
static inline int
conn_open_xprt(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind, const struct xprt_maker *m)
{
	return likely(!m) ? conn_open(c, l, fd, fn, owner, kind)
			  : conn_open_over(c, l, fd, fn, owner, kind, m);
}
/* 0, or -ERR_UNKNOWN: the socket and most transports know nothing of that. */
int conn_query(const struct conn *c, enum xprt_query what, struct str *out) must_check;

/* --- the socket, for transports --- */

/* One recv() of the socket, as conn_recv(): IO_EOF is the peer's FIN. */
enum io_result xprt_sock_recv(struct conn *c, void *buf, size_t len, size_t *got);
/* One send(), as conn_send(). */
enum io_result xprt_sock_send(struct conn *c, const void *buf, size_t len, int more, size_t *put);

#endif
