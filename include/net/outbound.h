/*
 * Connections that tacit opens, to servers and for itself: a socket with its options, bound to its
 * source, connect(), and a connection with its transport. Nothing here blocks, chooses an address,
 * or tries again later. On the thread of the loop.
 */
#ifndef TACIT_NET_OUTBOUND_H
#define TACIT_NET_OUTBOUND_H

#include <stdint.h>

#include "base/compiler.h"
#include "event/loop.h"
#include "net/addr.h"
#include "net/conn.h"
#include "net/conn_err.h"

struct keepalive;
struct sockbuf;
struct xprt_maker;

/* The local end of a connection. */
struct outbound_source {
	struct addr addr;              /* len 0: chosen by the kernel */
	const char *interface;         /* "": any */
	unsigned int port_lo, port_hi; /* used in turn; 0: the port of addr, 0: any */
	unsigned int *next;            /* of such a range: the number of its ports used so far */
	int is_foreign;                /* addr need not be this host's (IP_TRANSPARENT, which
					* needs CAP_NET_ADMIN) */
};

/* Properties of its packets. One that the process is not permitted to set changes nothing. */
struct outbound_packets {
	uint32_t mark; /* SO_MARK */
	uint8_t tos;
	uint8_t has_mark, has_tos;
};

#define OUTBOUND_DATAGRAM  1u /* UDP */
#define OUTBOUND_MPTCP     2u /* Multipath TCP, or TCP if the kernel has none */
#define OUTBOUND_FASTOPEN  4u /* the first data leaves in the SYN, if the peer knows this host */
#define OUTBOUND_LATE_ACK  8u /* the last ACK of TCP's handshake waits for data, or for a reset */
#define OUTBOUND_NAGLE    16u /* TCP_NODELAY is never set */

/* A connection to open. Options but `buffers` are not for unix sockets. */
struct outbound {
	const struct addr *to;
	const struct addr *via;        /* a SOCKS4 proxy on the way; NULL: none */
	unsigned int options;          /* OUTBOUND_x */
	unsigned int user_timeout_ms;  /* TCP_USER_TIMEOUT; 0: the kernel's */
	const struct sockbuf *buffers; /* NULL: the kernel's */
	const struct keepalive *keepalive; /* NULL: off */
	const struct outbound_source *source; /* NULL: chosen by the kernel */
	const struct outbound_packets *packets; /* NULL: the kernel's */
	const struct xprt_maker *xprt; /* NULL: the socket itself */
	int is_up;                     /* set by the calls: connected; 0: in progress */
};

/* True if this host lacks a resource: descriptors, ports or memory. err: an errno. */
int outbound_is_shortage(int err);

/*
 * Opens c, which has sent nothing yet: 1 if it is connected, 0 if that is in progress, or -errno.
 * With a proxy on the way, c begins with the request to it, and is without the transport, which is
 * the caller's to begin (conn_begin_xprt()) when the proxy has granted the request.
 */
int outbound_open(struct conn *c, struct loop *l, struct outbound *o, loop_fd_fn *fn,
	void *owner) must_check;
/* The reason why it could not be opened. NONE: the peer has refused it, or cannot be reached. */
enum conn_err outbound_error(const struct outbound *o, int err);
/* Has the connection wait until it is connected, or has failed: wants both directions. */
void outbound_await(struct conn *c);

/* --- the steps of outbound_open() --- */

/* Returns the descriptor of a socket that is connected (is_up) or connecting, or -errno. Of a range
 * of source ports it uses the next one that the kernel permits. */
int outbound_connect(struct sys *sys, struct outbound *o) must_check;
/* The same with a socket that was connected before and is bound. Closes it on failure. */
int outbound_reconnect(struct sys *sys, int fd, struct outbound *o) must_check;
/* Opens c over such a socket, which it takes over: 0, or -errno, and it is closed. */
int outbound_adopt(struct conn *c, struct loop *l, int fd, const struct outbound *o,
	loop_fd_fn *fn, void *owner) must_check;

/*
 * Connections to servers through a SOCKS4 proxy (www.openssh.com/txt/socks4.protocol): a request
 * below any transport, and a reply of 8 bytes, of which only the code is read. The bytes
 * behind it are the server's.
 */

/* With HAProxy's user id. */
#define SOCKS4_REQUEST_LEN 16
#define SOCKS4_REPLY_LEN 8

enum socks4_step {
	SOCKS4_SENDS,   /* waits until the rest of the request can be sent */
	SOCKS4_READS,   /* waits for the rest of the reply */
	SOCKS4_GRANTED, /* the server is connected */
	SOCKS4_DENIED,
	SOCKS4_CLOSED,  /* the proxy has closed before the end of its reply */
	SOCKS4_FAILED
};

/* Sends and reads what it can. *got: bytes of the reply so far, at first 0. After the last three
 * results c->err is set. */
enum socks4_step socks4_proceed(struct conn *c, uint8_t *got) must_check;
/* The reason for the last three results; NONE for others. */
enum conn_err socks4_error(enum socks4_step step);

#endif
