/*
 * One side of a forwarded connection: an fd in the loop, what is known about it, and the transport
 * that it reads and writes through (net/xprt.h; none: the socket itself). Without a transport
 * conn_recv and conn_send make at most one system call each and report its result to the loop.
 * A stream of another connection has a transport and no fd (net/conn_stream.h).
 *
 * The loop knows the readiness of the socket, these functions that of the user's data. Code that
 * may meet a transport calls conn_want() and conn_is_ready(), not the loop.
 */
#ifndef TACIT_NET_CONN_H
#define TACIT_NET_CONN_H

#include <stdint.h>

#include "base/compiler.h"
#include "event/loop.h"
#include "net/addr.h"

/* Type of the socket. TCP_NODELAY applies to TCP only. On a unix socket recv() also stops at bytes
 * that came with descriptors, so a short read does not mean that the socket is empty. */
enum conn_kind { CONN_TCP, CONN_TCP_NODELAY, CONN_UNIX };

enum io_result { IO_OK, IO_AGAIN, IO_EOF, IO_ERR };

/* Capabilities that only some connections have: conn_can(). */
#define XPRT_PEEK      1u  /* data can be read without consuming it: conn_peek(), conn_take() */
#define XPRT_LOW_WATER 2u  /* an event can wait for a number of bytes: conn_low_water() */
#define XPRT_SPLICE    4u  /* net/splice.h */
#define XPRT_ZEROCOPY  8u  /* net/zerocopy.h */
#define XPRT_MORE      16u /* MSG_MORE is useful */
#define XPRT_CAPS_TCP  (XPRT_PEEK | XPRT_LOW_WATER | XPRT_SPLICE | XPRT_ZEROCOPY | XPRT_MORE)
#define XPRT_CAPS_UNIX (XPRT_PEEK | XPRT_MORE)

struct conn_preface;
struct sbuf;
struct xprt;
struct zerocopy;

struct conn {
	struct loop *loop;
	struct xprt *xprt; /* NULL: the socket itself */
	int fd;        /* -1: none: closed, or a stream of another connection */
	int err;       /* errno of the first IO_ERR, 0 before */
	int late_err;  /* errno that came before the data that preceded it: reported after it */
	uint32_t addr_gen; /* for the owner: generation of the address it was opened to */
	uint8_t eof;   /* IO_EOF was or will be reported: RDHUP and a short read, or recv() = 0 */
	uint8_t sends; /* number of sends up to CONN_SENDS_MAX: TCP_NODELAY is set before the
		        * second */
	uint8_t shut; /* the FIN was sent */
	uint8_t no_zerocopy; /* zero-copy is disabled: the kernel copies anyway or does not support
			      * it, or it does not pay */
	uint8_t low_water; /* SO_RCVLOWAT as set; 0: the initial value, 1 */
	uint8_t nodelay : 1; /* TCP_NODELAY is set, or the socket is not TCP */
	uint8_t is_unix : 1;
	uint8_t expects_end : 1; /* the next read also asks for what follows the data */
	uint8_t held : 1; /* its last send announced more */
	uint8_t cut : 1; /* a splice() to it was short, which may hide an error */
	uint8_t owes_preface : 1; /* some of its preface is left to send */
	uint8_t has_place : 1; /* for the owner: it counts among the connections of a server */
	struct conn_preface *preface; /* NULL: none; see conn_set_preface() */
	struct zerocopy *zerocopy; /* net/zerocopy.h: NULL before the first such send */
	uint64_t sent; /* bytes written that the owner has not counted yet */
};

/* --- with a transport: net/conn_xprt.c --- */
int conn_xprt_can(const struct conn *c, unsigned int cap);
void conn_xprt_want(struct conn *c, unsigned int dirs);
int conn_xprt_is_ready(const struct conn *c, enum dir d);
void conn_xprt_presume_ready(struct conn *c, enum dir d);
enum io_result conn_xprt_recv(struct conn *c, void *buf, size_t len, size_t *got);
enum io_result conn_xprt_send(struct conn *c, const void *buf, size_t len, int more, size_t *put);
void conn_xprt_shut(struct conn *c);
void conn_xprt_finish(struct conn *c);
int conn_xprt_is_ending(const struct conn *c);
void conn_xprt_silence(struct conn *c);

/* --- without a descriptor: net/conn_stream.h --- */
void conn_stream_again(struct conn *c, enum dir d);
void conn_stream_presume_ready(struct conn *c, enum dir d);
unsigned int conn_stream_seen(const struct conn *c);
int conn_stream_has_news(const struct conn *c);

/* --- for all users --- */
void conn_init(struct conn *c);
/* The same of one that is all zero. */
static inline void
conn_init_zeroed(struct conn *c)
{
	c->fd = -1;
}

/* Gives a connection that will be opened on fd, or not, its descriptor: the functions of
 * net/conn_socket.h work on it from now on. */
void conn_attach(struct conn *c, struct loop *l, int fd);
/* Opens the connection on a non-blocking fd. 0, or a negative reason, and the caller still owns the
 * fd. */
int conn_open(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind) must_check;
static inline int
conn_is_open(const struct conn *c)
{
	return c->fd >= 0 || c->xprt;
}

/* True if it is a stream that another connection carries. */
static inline int
conn_is_stream(const struct conn *c)
{
	return c->fd < 0 && c->xprt;
}

/* True if it has this capability, one of XPRT_x. */
static inline int
conn_can(const struct conn *c, unsigned int cap)
{
	if (unlikely(c->xprt))
		return conn_xprt_can(c, cap);
	if (unlikely(c->owes_preface))
		cap &= ~XPRT_SPLICE;
	return (cap & (c->is_unix ? XPRT_CAPS_UNIX : XPRT_CAPS_TCP)) != 0;
}

/*
 * Reads up to len bytes: IO_OK with *got > 0, IO_AGAIN, IO_EOF, IO_ERR. A short read has drained
 * the socket: the next try waits for an event, or is IO_EOF if RDHUP was seen.
 */
enum io_result conn_recv(struct conn *c, void *buf, size_t len, size_t *got);
/*
 * The next conn_recv() is speculative: no event has reported data, nor what follows it, and that
 * is most likely the end. On a socket one call reads both: IO_OK with eof set if that was right.
 */
void conn_expect_end(struct conn *c);
/*
 * The same in two steps, if conn_can(XPRT_PEEK): conn_peek() leaves the data in the socket,
 * conn_take() consumes n bytes of it, IO_OK or IO_ERR. drained: the peek was short, and these are
 * all of its bytes.
 */
enum io_result conn_peek(struct conn *c, void *buf, size_t len, size_t *got);
enum io_result conn_take(struct conn *c, void *buf, size_t n, int drained);
/* Writes: IO_OK with 0 < *put <= len, IO_AGAIN, IO_ERR. more: the FIN follows at once, so a
 * transport may add its closing message. After IO_AGAIN the next call must begin with the same
 * bytes (see net/xprt.h). */
enum io_result conn_send(struct conn *c, const void *buf, size_t len, int more, size_t *put);
/* The same with MSG_ZEROCOPY, if conn_can(XPRT_ZEROCOPY); *in_place is 0 when the kernel lacked
 * resources and copied. */
enum io_result conn_send_in_place(struct conn *c, const void *buf, size_t len, int more,
	size_t *put, int *in_place);
/* Sends what is left of out, behind *sent bytes of it, as far as the connection takes it: IO_OK,
 * and out is empty and *sent 0; IO_AGAIN; IO_ERR. */
enum io_result conn_send_sbuf(struct conn *c, struct sbuf *out, size_t *sent) must_check;
/*
 * Sets the number of bytes, 1 to 255, that make the socket readable, besides EOF and errors
 * (SO_RCVLOWAT, socket(7)). Makes a call only when the value changes. No effect on unix sockets,
 * whose poll() ignores the mark, and with most transports.
 */
void conn_set_low_water(struct conn *c, unsigned int bytes);
static inline void
conn_low_water(struct conn *c, unsigned int bytes)
{
	if (bytes != (c->low_water ? c->low_water : 1u))
		conn_set_low_water(c, bytes);
}
/* True if there may be bytes below the mark, which no event reports. */
static inline int
conn_ignores_few(const struct conn *c)
{
	return c->low_water > 1;
}
/* Sets the directions that the user wants, EV_R | EV_W: the complete new mask. */
static inline void
conn_want(struct conn *c, unsigned int dirs)
{
	if (unlikely(c->xprt))
		conn_xprt_want(c, dirs);
	else
		loop_want(c->loop, c->fd, dirs);
}
/* True if a try is believed to succeed. */
static inline int
conn_is_ready(const struct conn *c, enum dir d)
{
	if (unlikely(c->xprt))
		return conn_xprt_is_ready(c, d);
	return loop_is_ready(c->loop, c->fd, d);
}
/* A try would fail: the next one waits for an event. */
static inline void
conn_again(struct conn *c, enum dir d)
{
	if (unlikely(c->fd < 0))
		conn_stream_again(c, d);
	else
		loop_again(c->loop, c->fd, d);
}
/* The connection is new, and it is known that a try would fail (loop_presume_again()). */
static inline void
conn_presume_again(struct conn *c, enum dir d)
{
	if (unlikely(c->fd < 0))
		conn_stream_again(c, d);
	else
		loop_presume_again(c->loop, c->fd, d);
}
/* The opposite: it may be ready although no event has reported it. */
static inline void
conn_presume_ready(struct conn *c, enum dir d)
{
	if (unlikely(c->fd < 0))
		conn_stream_presume_ready(c, d);
	else if (unlikely(c->xprt))
		conn_xprt_presume_ready(c, d);
	else
		loop_presume_ready(c->loop, c->fd, d);
}
/* EV_RDHUP | EV_HUP | EV_ERR | EV_URGENT seen since it was opened. */
static inline unsigned int
conn_seen(const struct conn *c)
{
	return unlikely(c->fd < 0) ? conn_stream_seen(c) : loop_seen(c->loop, c->fd);
}
/* True if it may have an event that was not delivered yet. */
static inline int
conn_has_news(const struct conn *c)
{
	return unlikely(c->fd < 0) ? conn_stream_has_news(c) : loop_has_news(c->loop, c->fd);
}
/* The directions that the kernel reports: EV_R | EV_W | EV_EDGE. */
unsigned int conn_polled(const struct conn *c);
/* Notes that EV_ERR is an error of the connection, not an entry of its error queue
 * (loop_note_error()). */
static inline void
conn_note_error(struct conn *c)
{
	if (likely(c->fd >= 0))
		loop_note_error(c->loop, c->fd);
}

/*
 * A preface: bytes of the socket itself, before those of any transport (a PROXY header). They leave
 * in one call with the first send, and are not counted as sent. 0 or -ERR_NOMEM; the connection has
 * sent nothing yet.
 */
int conn_set_preface(struct conn *c, const void *bytes, size_t n) must_check;
/* True if the connection began with these bytes. */
int conn_has_preface(const struct conn *c, const void *bytes, size_t n);
/* Sends what is left of it without data: IO_OK, IO_AGAIN or IO_ERR. */
enum io_result conn_send_preface(struct conn *c);
/* Changes the event handler, as loop_set_owner(). */
void conn_set_owner(struct conn *c, loop_fd_fn *fn, void *owner);
/* Sends the FIN, once, after the transport's closing message. */
void conn_shut(struct conn *c);
/* Before the last close, which sends the FIN: sends the transport's closing message, or continues
 * it. Without a transport it does nothing. */
static inline void
conn_finish(struct conn *c)
{
	if (unlikely(c->xprt))
		conn_xprt_finish(c);
}

/* True if the closing message has begun, and waits for the socket (EV_W). */
static inline int
conn_is_ending(const struct conn *c)
{
	return unlikely(c->xprt) && conn_xprt_is_ending(c);
}

/*
 * Sends the FIN before a close() that follows at once, also when the peer has not closed, and reads
 * once, since close() resets the connection if received data is unread.
 */
void conn_end(struct conn *c, void *scratch, size_t size);
/* Discards what the peer still sends, some of it in one turn, since others wait. 1: the connection
 * has ended; 0: it is called again when there is more to read. */
int conn_discard(struct conn *c) must_check;
/* True if the connection has failed in the kernel too: not after a local lack of memory. */
int conn_is_dead(const struct conn *c);
/* Makes the coming close a reset, without the transport's closing message. */
void conn_reset_on_close(struct conn *c);
/* Sends what the kernel holds back because the last send announced more, when nothing follows. */
void conn_push(struct conn *c);
/* Bytes that the peer has not acknowledged, 0 if unknown. */
unsigned int conn_unsent(struct conn *c);
/* SO_ERROR: 0 or an errno. */
int conn_take_error(struct conn *c);
/* For net/splice: to be called before a send, after a send of put out of len bytes, and with the
 * error of a failed call (-errno). */
void conn_will_send(struct conn *c);
void conn_sent(struct conn *c, size_t put, size_t len);
void conn_failed(struct conn *c, long r);
void conn_close(struct conn *c);
/* Closes the connection but not its socket, which is returned: it has no transport. */
int conn_take_fd(struct conn *c) must_check;
/* Closes the connection at the end of the turn, in one call with neighbouring descriptors. May be
 * closed already. */
void conn_close_late(struct conn *c);

/* --- the preface, for conn.c: net/conn_xprt.c --- */

/* Sends the rest of the preface and then data, in one call: bytes of the data that were sent, or
 * -errno. */
long conn_preface_send(struct conn *c, const void *buf, size_t len, int flags);
void conn_preface_drop(struct conn *c);

/* --- the socket, for transports --- */

/* One recv() on the socket, as conn_recv(): IO_EOF is the peer's FIN. */
enum io_result conn_sock_recv(struct conn *c, void *buf, size_t len, size_t *got);
/* One send() on the socket, as conn_send(). */
enum io_result conn_sock_send(struct conn *c, const void *buf, size_t len, int more, size_t *put);

#endif
