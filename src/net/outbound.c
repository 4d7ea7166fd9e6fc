/* Connections that tacit opens. On the thread of the loop; a descriptor that is not handed on is
 * closed. */
#define _GNU_SOURCE
#include "net/outbound.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/err.h"
#include "net/keepalive.h"
#include "net/sockbuf.h"
#include "net/xprt.h"
#include "base/sys.h"

/* --- SOCKS4 --- */

enum { VERSION = 4, CONNECT = 1, GRANTED = 90, CODE_AT = 1 };

/* The IPv4 address, also of an IPv4-mapped one. */
static int
ipv4_bytes(const struct addr *to, unsigned char out[4])
{
	if (addr_family(to) == AF_INET) {
		memcpy(out, &to->u.in.sin_addr, 4);
		return 0;
	}
	if (addr_family(to) != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&to->u.in6.sin6_addr))
		return -EAFNOSUPPORT;
	memcpy(out, to->u.in6.sin6_addr.s6_addr + 12, 4);
	return 0;
}

/* Prepares the request for a server; c has sent nothing yet. 0, -EAFNOSUPPORT unless `to` is an
 * IPv4 address, or -ENOMEM. */
static int
socks4_begin(struct conn *c, const struct addr *to)
{
	unsigned char request[SOCKS4_REQUEST_LEN] = { VERSION, CONNECT };
	unsigned int port = addr_port(to);

	request[2] = (unsigned char)(port >> 8);
	request[3] = (unsigned char)port;
	if (ipv4_bytes(to, request + 4) < 0)
		return -EAFNOSUPPORT;
	memcpy(request + 8, "HAProxy", 8);
	return conn_set_preface(c, request, sizeof(request)) < 0 ? -ENOMEM : 0;
}

/* Restores Nagle's algorithm: nothing is in transit any more, so it delays no first segment. */
static enum socks4_step
finish_reply(struct conn *c)
{
	conn_preface_drop(c);
	c->sends = 0;
	return SOCKS4_GRANTED;
}

static enum socks4_step
end_with(struct conn *c, enum socks4_step step, int err)
{
	conn_failed(c, -err);
	return step;
}

enum socks4_step
socks4_proceed(struct conn *c, uint8_t *got)
{
	enum io_result sent = conn_send_preface(c);
	unsigned char reply[SOCKS4_REPLY_LEN];

	if (sent != IO_OK)
		return sent == IO_AGAIN ? SOCKS4_SENDS : SOCKS4_FAILED;
	while (*got < SOCKS4_REPLY_LEN && loop_is_ready(c->loop, c->fd, DIR_R)) {
		long r = sys_recvfrom(
			loop_sys(c->loop), c->fd, reply + *got, SOCKS4_REPLY_LEN - *got, 0);

		if (r == -EAGAIN) {
			loop_again(c->loop, c->fd, DIR_R);
			break;
		}
		if (r == 0)
			return end_with(c, SOCKS4_CLOSED, ECONNRESET);
		if (r < 0)
			return end_with(c, SOCKS4_FAILED, (int)-r);
		loop_progress(c->loop, c->fd);
		if (*got <= CODE_AT && *got + r > CODE_AT && reply[CODE_AT] != GRANTED)
			return end_with(c, SOCKS4_DENIED, ECONNREFUSED);
		*got = (uint8_t)(*got + r);
	}
	return *got == SOCKS4_REPLY_LEN ? finish_reply(c) : SOCKS4_READS;
}

enum conn_err
socks4_error(enum socks4_step step)
{
	switch (step) {
	case SOCKS4_DENIED:
		return CONN_ERR_SOCKS4_DENIED;
	case SOCKS4_CLOSED:
		return CONN_ERR_SOCKS4_CLOSED;
	case SOCKS4_FAILED:
		return CONN_ERR_SOCKS4_FAILED;
	case SOCKS4_SENDS:
	case SOCKS4_READS:
	case SOCKS4_GRANTED:
		break;
	}
	return CONN_ERR_NONE;
}

/* --- clients that connect --- */

/* So many ports are tried in one go: others wait meanwhile. */
#define PORTS_TRIED 64

int
outbound_is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM ||
		err == EADDRNOTAVAIL || err == EADDRINUSE || err == EAGAIN;
}

/* --- the source --- */

static int
ports_to_try(const struct outbound_source *src)
{
	return src->port_lo ? (int)MIN(src->port_hi - src->port_lo + 1, PORTS_TRIED) : 1;
}

static long
set_int_option(struct sys *sys, int fd, int level, int opt, int value)
{
	return sys_setsockopt(sys, fd, level, opt, &value, sizeof(value));
}

static long
bind_device(struct sys *sys, const struct outbound_source *src, int fd)
{
	if (!src->interface[0])
		return 0;
	return sys_setsockopt(sys, fd, SOL_SOCKET, SO_BINDTODEVICE, src->interface,
		(socklen_t)strlen(src->interface) + 1);
}

static long
permit_foreign(struct sys *sys, int fd, int family)
{
	return family == AF_INET6 ? set_int_option(sys, fd, IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
				  : set_int_option(sys, fd, IPPROTO_IP, IP_TRANSPARENT, 1);
}

/* A given port may still be bound by an earlier connection that has ended (TIME_WAIT). Without one
 * the kernel chooses it when it knows the destination. */
static long
prepare_port(struct sys *sys, const struct outbound_source *src, int fd)
{
	return src->port_lo || addr_port(&src->addr)
		? set_int_option(sys, fd, SOL_SOCKET, SO_REUSEADDR, 1)
		: set_int_option(sys, fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
}

/* Binds fd; of a range of ports to the next one that no other program holds. */
static long
bind_port(struct sys *sys, const struct outbound_source *src, int fd)
{
	unsigned int n = src->port_hi - src->port_lo + 1;
	int tries = ports_to_try(src);
	struct addr a = src->addr;
	long r;

	do {
		if (src->port_lo)
			addr_set_port(&a, src->port_lo + (atomic_add(src->next, 1u) - 1) % n);
		r = sys_bind(sys, fd, &a.u.sa, a.len);
	} while (r == -EADDRINUSE && --tries > 0);
	return r;
}

static long
bind_source(struct sys *sys, const struct outbound_source *src, int fd)
{
	long r = bind_device(sys, src, fd);

	if (!src->addr.len || r < 0)
		return r;
	if (src->is_foreign)
		r = permit_foreign(sys, fd, addr_family(&src->addr));
	if (r >= 0)
		r = prepare_port(sys, src, fd);
	return r < 0 ? r : bind_port(sys, src, fd);
}

/* --- the socket --- */

static const struct addr *
first_hop(const struct outbound *o)
{
	return unlikely(o->via) ? o->via : o->to;
}

/* True for errors that come from the peer, or from the network between. */
static int
is_of_the_network(int err)
{
	return err == ECONNREFUSED || err == ECONNRESET || err == ETIMEDOUT || err == ENETUNREACH ||
		err == EHOSTUNREACH;
}

enum conn_err
outbound_error(const struct outbound *o, int err)
{
	switch (err) {
	case EMFILE:
		return CONN_ERR_NO_FILES;
	case ENFILE:
		return CONN_ERR_NO_SYSTEM_FILES;
	case ENOBUFS:
	case ENOMEM:
		return CONN_ERR_NO_BUFFERS;
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
		return CONN_ERR_FAMILY;
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return o->source && o->source->addr.len ? CONN_ERR_SOURCE : CONN_ERR_NO_PORTS;
	default:
		break;
	}
	return is_of_the_network(err) && addr_family(first_hop(o)) != AF_UNIX ? CONN_ERR_NONE
									   : CONN_ERR_SOCKET;
}

/* Returns the result of setting an option; 0 if MPTCP does not have it. */
static long
unless_mptcp(const struct outbound *o, long r)
{
	return (r == -ENOPROTOOPT || r == -EOPNOTSUPP) && o->options & OUTBOUND_MPTCP ? 0 : r;
}

static long
set_or_leave_out(struct sys *sys, const struct outbound *o, int fd, int opt, int value)
{
	return unless_mptcp(o, set_int_option(sys, fd, IPPROTO_TCP, opt, value));
}

/* Options of the handshake, which a socket loses with its connection. */
static long
set_handshake(struct sys *sys, const struct outbound *o, int fd)
{
	long r = 0;

	if (o->options & OUTBOUND_LATE_ACK)
		r = set_or_leave_out(sys, o, fd, TCP_QUICKACK, 0);
	if (r >= 0 && o->options & OUTBOUND_FASTOPEN)
		r = set_or_leave_out(sys, o, fd, TCP_FASTOPEN_CONNECT, 1);
	return r;
}

/* Sets options of packets. An IPv6 socket may carry IPv4: both options are set. */
static void
set_packets(struct sys *sys, const struct outbound_packets *p, int fd, int family)
{
	if (p->has_mark)
		(void)set_int_option(sys, fd, SOL_SOCKET, SO_MARK, (int)p->mark);
	if (!p->has_tos)
		return;
	(void)set_int_option(sys, fd, IPPROTO_IP, IP_TOS, p->tos);
	if (family == AF_INET6)
		(void)set_int_option(sys, fd, IPPROTO_IPV6, IPV6_TCLASS, p->tos);
}

static long
set_all_options(struct sys *sys, const struct outbound *o, int fd)
{
	long r = 0;

	if (o->keepalive)
		r = unless_mptcp(o, keepalive_set(sys, fd, o->keepalive));
	if (r >= 0 && o->user_timeout_ms)
		r = set_or_leave_out(sys, o, fd, TCP_USER_TIMEOUT, (int)o->user_timeout_ms);
	return r < 0 ? r : set_handshake(sys, o, fd);
}

/* Without Multipath TCP in the kernel TCP is used: it is what both sides fall back to. */
static long
new_socket(struct sys *sys, const struct outbound *o, int family)
{
	int type = (o->options & OUTBOUND_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK |
		SOCK_CLOEXEC;
	long fd = -EPROTONOSUPPORT;

	if (unlikely(o->options & OUTBOUND_MPTCP) && !o->via)
		fd = sys_socket(sys, family, type, IPPROTO_MPTCP);
	if (likely(fd == -EPROTONOSUPPORT) || fd == -ENOPROTOOPT)
		fd = sys_socket(sys, family, type, 0);
	return fd;
}

/* Sets its options, and binds it to its source: fd, or -errno, and it is closed. A function of its
 * own, since most connections need none of it. */
one_copy static long
prepare_socket(struct sys *sys, const struct outbound *o, int fd, int family)
{
	const char *what;
	long r = o->buffers ? sockbuf_set(sys, fd, family, o->buffers, &what) : 0;

	if (r >= 0 && family != AF_UNIX && o->packets)
		set_packets(sys, o->packets, fd, family);
	if (r >= 0 && family != AF_UNIX)
		r = set_all_options(sys, o, fd);
	if (r >= 0 && family != AF_UNIX && o->source)
		r = bind_source(sys, o->source, fd);
	if (r >= 0)
		return fd;
	(void)sys_close(sys, fd);
	return r;
}

static int
needs_preparation(const struct outbound *o)
{
	return o->source || o->packets || o->buffers || o->keepalive || o->options ||
		o->user_timeout_ms;
}

/* --- connecting --- */

static inline int
start_connect(struct sys *sys, int fd, struct outbound *o)
{
	const struct addr *to = first_hop(o);
	long r = sys_connect(sys, fd, &to->u.sa, to->len);

	o->is_up = r >= 0;
	if (likely(r >= 0 || r == -EINPROGRESS))
		return fd;
	(void)sys_close(sys, fd);
	return (int)r;
}

int
outbound_connect(struct sys *sys, struct outbound *o)
{
	int family = addr_family(first_hop(o)), tried = 0, r;

	do {
		long fd = new_socket(sys, o, family);

		if (fd >= 0 && unlikely(needs_preparation(o)))
			fd = prepare_socket(sys, o, (int)fd, family);
		if (fd < 0)
			return (int)fd;
		r = start_connect(sys, (int)fd, o);
		/* A connection from this port to this address is open. */
	} while (r == -EADDRNOTAVAIL && o->source && ++tried < ports_to_try(o->source));
	return r;
}

int
outbound_reconnect(struct sys *sys, int fd, struct outbound *o)
{
	long r = set_handshake(sys, o, fd);

	if (r >= 0)
		return start_connect(sys, fd, o);
	(void)sys_close(sys, fd);
	return (int)r;
}

static enum conn_kind
conn_kind_of(const struct outbound *o)
{
	if (addr_family(first_hop(o)) == AF_UNIX)
		return CONN_UNIX;
	return o->options & OUTBOUND_NAGLE ? CONN_TCP_NODELAY : CONN_TCP;
}

int
outbound_adopt(struct conn *c, struct loop *l, int fd, const struct outbound *o, loop_fd_fn *fn,
	void *owner)
{
	int r = conn_open_xprt(c, l, fd, fn, owner, conn_kind_of(o), o->via ? NULL : o->xprt);

	if (r < 0) {
		(void)sys_close(loop_sys(l), fd);
		return r == -ERR_NOMEM ? -ENOMEM : -EMFILE;
	}
	/* A new connection has received nothing. */
	loop_presume_again(l, fd, DIR_R);
	if (likely(!o->via))
		return 0;
	r = socks4_begin(c, o->to);
	if (r < 0)
		conn_close(c);
	return r;
}

int
outbound_open(struct conn *c, struct loop *l, struct outbound *o, loop_fd_fn *fn, void *owner)
{
	int r = outbound_connect(loop_sys(l), o);

	if (r >= 0)
		r = outbound_adopt(c, l, r, o, fn, owner);
	return r < 0 ? r : o->is_up;
}

void
outbound_await(struct conn *c)
{
	loop_presume_again(c->loop, c->fd, DIR_W);
	conn_want(c, EV_R | EV_W);
}
