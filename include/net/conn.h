/*
 * One side of a forwarded connection: an fd in the loop, what is known of it without asking, and
 * the transport that it reads and writes through (net/xprt.h; none: the socket itself). On the
 * socket conn_recv and conn_send make at most one system call each and tell the loop what it said.
 *
 * The loop speaks of the socket, these functions speak of the user's bytes. A user that may have a
 * transport asks conn_want() and conn_is_ready(), not the loop.
 */
#ifndef TACIT_NET_CONN_H
#define TACIT_NET_CONN_H

#include <stdint.h>

#include "base/compiler.h"
#include "event/loop.h"
#include "net/addr.h"

/* What the socket is: TCP_NODELAY concerns TCP alone, and on a unix socket recv() also ends at
 * bytes that descriptors came with: a short read there does not mean that no more is there. */
enum conn_kind { CONN_TCP, CONN_TCP_NODELAY, CONN_UNIX };

enum io_result { IO_OK, IO_AGAIN, IO_EOF, IO_ERR };

/* What only some connections can do: conn_can(). */
#define XPRT_PEEK      1u  /* bytes can be looked at and left: conn_peek(), conn_take() */
#define XPRT_LOW_WATER 2u  /* an event can wait for several bytes: conn_low_water() */
#define XPRT_SPLICE    4u  /* net/splice.h */
#define XPRT_ZEROCOPY  8u  /* net/zerocopy.h */
#define XPRT_MORE      16u /* that more follows at once is worth saying (MSG_MORE) */
#define XPRT_CAPS_TCP  (XPRT_PEEK | XPRT_LOW_WATER | XPRT_SPLICE | XPRT_ZEROCOPY | XPRT_MORE)
#define XPRT_CAPS_UNIX (XPRT_PEEK | XPRT_MORE)

struct xprt;
struct zerocopy;

struct conn {
	struct loop *loop;
	struct xprt *xprt; /* NULL: the socket itself */
	int fd;        /* -1: none */
	int err;       /* errno of the first IO_ERR, 0 before */
	uint8_t eof;   /* IO_EOF was or is to be reported: RDHUP and a short read, or recv() = 0 */
	uint8_t sends; /* sends made, up to CONN_SENDS_MAX: TCP_NODELAY is set before the second */
	uint8_t nodelay; /* already on, or not a TCP socket */
	uint8_t is_unix;
	uint8_t shut; /* our FIN is sent */
	uint8_t no_zerocopy; /* the kernel copies after all, or cannot, or it is not worth asking */
	struct zerocopy *zerocopy; /* net/zerocopy.h: NULL before the first such send */
	uint8_t low_water; /* what the kernel has as SO_RCVLOWAT; 0: as it began, 1 */
	uint8_t cut;  /* a splice() to it came out short, which hides an error */
	uint64_t sent; /* bytes that were written and that its owner has not counted yet */
};

/* --- with a transport: net/xprt.c --- */
int conn_xprt_can(const struct conn *c, unsigned int cap);
void conn_xprt_want(struct conn *c, unsigned int dirs);
int conn_xprt_is_ready(const struct conn *c, enum dir d);
enum io_result conn_xprt_recv(struct conn *c, void *buf, size_t len, size_t *got);
enum io_result conn_xprt_send(struct conn *c, const void *buf, size_t len, int more, size_t *put);
void conn_xprt_shut(struct conn *c);
void conn_xprt_silence(struct conn *c);
void conn_xprt_close(struct conn *c);

/* --- for all users --- */
void conn_init(struct conn *c);
/* Takes over an open, non-blocking fd. 0, or a negative reason; the fd stays the caller's then. */
int conn_open(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind) must_check;
static inline int
conn_is_open(const struct conn *c)
{
	return c->fd >= 0;
}

/* Can it do that, one of XPRT_x? */
static inline int
conn_can(const struct conn *c, unsigned int cap)
{
	if (unlikely(c->xprt))
		return conn_xprt_can(c, cap);
	return (cap & (c->is_unix ? XPRT_CAPS_UNIX : XPRT_CAPS_TCP)) != 0;
}

/*
 * Reads up to len bytes: IO_OK with *got > 0, IO_AGAIN, IO_EOF, IO_ERR. After a short read the
 * next try is known to fail and is not wanted until the kernel says so; with RDHUP seen it is EOF.
 */
enum io_result conn_recv(struct conn *c, void *buf, size_t len, size_t *got);
/*
 * The same in two steps, where conn_can(XPRT_PEEK): conn_peek() leaves the bytes where they are,
 * conn_take() reads n of them, IO_OK or IO_ERR; drained: the look was short, and these are all it
 * saw.
 */
enum io_result conn_peek(struct conn *c, void *buf, size_t len, size_t *got);
enum io_result conn_take(struct conn *c, void *buf, size_t n, int drained);
/* Writes: IO_OK with 0 < *put <= len, IO_AGAIN, IO_ERR. more: a FIN or more data follows at
 * once. After IO_AGAIN the next call brings the same bytes first (net/xprt.h says why). */
enum io_result conn_send(struct conn *c, const void *buf, size_t len, int more, size_t *put);
/* The same with MSG_ZEROCOPY, where conn_can(XPRT_ZEROCOPY); *in_place is 0 when the kernel had no
 * room for that, and copied. */
enum io_result conn_send_in_place(struct conn *c, const void *buf, size_t len, int more,
	size_t *put, int *in_place);
/*
 * Readable is to mean that so many bytes are there, 1 to 255, or an end (SO_RCVLOWAT, socket(7)).
 * Makes a call only when it is something new. It does nothing where it cannot be had: to a unix
 * socket, whose poll() knows no such mark, and with most transports.
 */
void conn_set_low_water(struct conn *c, unsigned int bytes);
static inline void
conn_low_water(struct conn *c, unsigned int bytes)
{
	if (bytes != (c->low_water ? c->low_water : 1u))
		conn_set_low_water(c, bytes);
}
/* May there be bytes below the mark, of which no event tells? */
static inline int
conn_ignores_few(const struct conn *c)
{
	return c->low_water > 1;
}
/* The directions that the user wants, EV_R | EV_W: the whole new mask. */
static inline void
conn_want(struct conn *c, unsigned int dirs)
{
	if (unlikely(c->xprt))
		conn_xprt_want(c, dirs);
	else
		loop_want(c->loop, c->fd, dirs);
}
/* Is a try believed to be worth it? */
static inline int
conn_is_ready(const struct conn *c, enum dir d)
{
	if (unlikely(c->xprt))
		return conn_xprt_is_ready(c, d);
	return loop_is_ready(c->loop, c->fd, d);
}
/* Events go to another handler from now on, as loop_set_owner(). */
void conn_set_owner(struct conn *c, loop_fd_fn *fn, void *owner);
/* Sends FIN (once), after what the transport has to say before it. */
void conn_shut(struct conn *c);
/*
 * The same before a close() that follows at once, whatever the peer has said: its FIN goes first,
 * and one read takes what has come. close() resets who has sent more than was read.
 */
void conn_end(struct conn *c, void *scratch, size_t size);
/* It failed, and for the kernel too it is over: not so when only memory was short here. */
int conn_is_dead(const struct conn *c);
/* Makes the coming close a reset, and the transport's last word is not said. */
void conn_reset_on_close(struct conn *c);
/* The same of one that is not opened here. */
void conn_fd_reset_on_close(struct sys *sys, int fd);
/* Bytes the peer has not acknowledged yet, 0 when unknown. */
unsigned int conn_unsent(struct conn *c);
/* SO_ERROR: 0 or an errno. */
int conn_take_error(struct conn *c);
/* For net/splice: before a send; after one of put bytes out of len; and what a call failed with
 * (-errno). */
void conn_will_send(struct conn *c);
void conn_sent(struct conn *c, size_t put, size_t len);
void conn_failed(struct conn *c, long r);
void conn_close(struct conn *c);
/* The same at the end of the turn, in one call with others whose descriptors are neighbours. May be
 * closed already. */
void conn_close_late(struct conn *c);

#endif
