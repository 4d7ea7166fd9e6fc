/* The system calls of the fake kernel: argument checks and trace lines; the other files do the
 * work. */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

#include "fake/kernel_int.h"

static long
fk_accept4(void *ctx, int fd, struct sockaddr *sa, socklen_t *len, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_accept4, fd);
	struct fake_sock *l, *s;

	if (r == 0 && (l = fake_sock_of(k, fd, &r))) {
		r = fake_file_new(k, FAKE_KIND_SOCK, flags & SOCK_NONBLOCK);
		s = r >= 0 ? fake_sock_accept(l) : NULL;
		if (s) {
			s->file = k->files[r];
			s->was_fd = 1;
			s->file->sock = s;
			if (sa) {
				memcpy(sa, &s->remote, MIN(*len, fake_addr_len(&s->remote)));
				*len = fake_addr_len(&s->remote);
			}
		} else if (r >= 0) {
			fake_file_close(k, (int)r);
			r = l->state == FAKE_LISTEN ? -EAGAIN : -EINVAL;
			if (!k->files[fd]->nonblock)
				fake_blame(k, FAKE_BLOCKED);
		}
	}
	return fake_leave(k, r, "accept4(%d)", fd);
}

static long
fk_socket(void *ctx, int domain, int type, int proto)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_socket, -1);

	(void)proto;
	/* Questions about sockets have no answer. */
	if (r == 0 && domain == AF_NETLINK)
		r = -EAFNOSUPPORT;
	if (r == 0 && (type & 0xf) != SOCK_STREAM && (type & 0xf) != SOCK_DGRAM) {
		fake_blame(k, FAKE_UNKNOWN);
		r = -ENOSYS;
	}
	if (r == 0)
		r = fake_file_new(k, FAKE_KIND_SOCK, type & SOCK_NONBLOCK);
	if (r > 0) {
		struct fake_sock *s = fake_sock_new(k, domain);

		s->type = type & 0xf;
		s->was_fd = 1;
		s->file = k->files[r];
		s->file->sock = s;
	}
	return fake_leave(k, r, "socket(%s%s)",
	    domain == AF_INET ? "INET" : domain == AF_INET6 ? "INET6" :
	    domain == AF_NETLINK ? "NETLINK" : "UNIX",
	    (type & 0xf) == SOCK_DGRAM ? ", DGRAM" : "");
}

static long
fk_bind(void *ctx, int fd, const struct sockaddr *sa, socklen_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_bind, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		memset(&s->local, 0, sizeof(s->local));
		memcpy(&s->local, sa, MIN((size_t)len, sizeof(s->local)));
		if (s->type == SOCK_DGRAM)
			r = fake_dgram_bind(s);
		else if (fake_addr_is_taken(s))
			r = -EADDRINUSE;
		if (r == 0 && s->family == AF_UNIX)
			s->bound = ++k->last_inode;
	}
	return fake_leave(k, r, "bind(%d)", fd);
}

static long
fk_listen(void *ctx, int fd, int backlog)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_listen, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = fake_sock_listen(s, backlog);
	return fake_leave(k, r, "listen(%d, %d)", fd, backlog);
}

static long
fk_connect(void *ctx, int fd, const struct sockaddr *sa, socklen_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_connect, fd);
	struct sockaddr_storage to = { 0 };
	struct fake_sock *s;

	memcpy(&to, sa, MIN((size_t)len, sizeof(to)));
	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = sa->sa_family == AF_UNSPEC ? fake_file_disconnect(s->file)
					       : fake_sock_connect(s, sa, len);
	return fake_leave(k, r, "connect(%d, :%u)", fd, fake_addr_port(&to));
}

static long
addr_out(const struct sockaddr_storage *from, struct sockaddr *sa, socklen_t *len)
{
	memcpy(sa, from, MIN(*len, fake_addr_len(from)));
	*len = fake_addr_len(from);
	return 0;
}

static long
fk_getsockname(void *ctx, int fd, struct sockaddr *sa, socklen_t *len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_getsockname, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = addr_out(&s->local, sa, len);
	return fake_leave(k, r, "getsockname(%d)", fd);
}

static long
fk_getpeername(void *ctx, int fd, struct sockaddr *sa, socklen_t *len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_getpeername, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = s->state == FAKE_EST ? addr_out(&s->remote, sa, len) : -ENOTCONN;
	return fake_leave(k, r, "getpeername(%d)", fd);
}

static const char *
option_text(int lvl, int opt, char *buf, size_t len)
{
	static const struct {
		int lvl, opt;
		const char *name;
	} names[] = {
		{ SOL_SOCKET, SO_ERROR, "SO_ERROR" },
		{ SOL_SOCKET, SO_LINGER, "SO_LINGER" },
		{ SOL_SOCKET, SO_KEEPALIVE, "SO_KEEPALIVE" },
		{ SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR" },
		{ SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT" },
		{ SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF" },
		{ SOL_SOCKET, SO_RCVLOWAT, "SO_RCVLOWAT" },
		{ SOL_SOCKET, SO_ZEROCOPY, "SO_ZEROCOPY" },
		{ SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF" },
		{ IPPROTO_TCP, TCP_INFO, "TCP_INFO" },
		{ IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY" },
		{ IPPROTO_TCP, TCP_QUICKACK, "TCP_QUICKACK" },
		{ IPPROTO_TCP, TCP_REPAIR, "TCP_REPAIR" },
		{ IPPROTO_IP, IP_TTL, "IP_TTL" },
		{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, "IPV6_UNICAST_HOPS" },
		{ IPPROTO_TCP, TCP_KEEPIDLE, "TCP_KEEPIDLE" },
		{ IPPROTO_TCP, TCP_DEFER_ACCEPT, "TCP_DEFER_ACCEPT" },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, "TCP_USER_TIMEOUT" },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, "TCP_NOTSENT_LOWAT" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].lvl == lvl && names[i].opt == opt)
			return names[i].name;
	snprintf(buf, len, "%d:%d", lvl, opt);
	return buf;
}

static long
fk_setsockopt(void *ctx, int fd, int lvl, int opt, const void *v, socklen_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_setsockopt, fd);
	struct fake_sock *s;
	char text[32];

	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		if (lvl == SOL_SOCKET && opt == SO_LINGER && len >= sizeof(struct linger)) {
			const struct linger *l = v;

			s->linger0 = l->l_onoff && l->l_linger == 0;
		} else if (lvl == SOL_SOCKET && opt == SO_ZEROCOPY) {
			r = fake_zc_open(s);
		} else if (lvl == SOL_SOCKET && (opt == SO_SNDBUF || opt == SO_RCVBUF)) {
			*(opt == SO_SNDBUF ? &s->sndbuf : &s->rcvbuf) = *(const unsigned int *)v;
			s->fixed_bufs = 1;
		} else if (lvl == SOL_SOCKET && opt == SO_RCVLOWAT) {
			fake_sock_set_low_water(s, *(const unsigned int *)v);
		} else if (lvl == SOL_SOCKET && opt == SO_REUSEPORT) {
			s->reuseport = *(const int *)v;
		} else if (lvl == IPPROTO_TCP && opt == TCP_NODELAY) {
			fake_sock_push(s);
		} else if (lvl == IPPROTO_TCP && opt == TCP_REPAIR) {
			s->repair = *(const int *)v;
		} else if (lvl == IPPROTO_TCP && opt == TCP_DEFER_ACCEPT) {
			s->defer = *(const int *)v;
		} else if (lvl != SOL_SOCKET && lvl != IPPROTO_TCP && lvl != IPPROTO_IP &&
			   lvl != IPPROTO_IPV6) {
			fake_blame(k, FAKE_UNKNOWN);
			r = -ENOPROTOOPT;
		}
	}
	return fake_leave(k, r, "setsockopt(%d, %s)", fd, option_text(lvl, opt, text,
	    sizeof(text)));
}

static long
socket_option(struct fake *k, struct fake_sock *s, int lvl, int opt, int *out)
{
	if (lvl != SOL_SOCKET) {
		fake_blame(k, FAKE_UNKNOWN);
		return -ENOPROTOOPT;
	}
	switch (opt) {
	case SO_ERROR:
		*out = s->err;
		s->err = 0;
		return 0;
	case SO_TYPE:
		*out = s->type;
		return 0;
	case SO_DOMAIN:
		*out = s->family;
		return 0;
	case SO_ACCEPTCONN:
		*out = s->state == FAKE_LISTEN;
		return 0;
	case SO_SNDBUF:
		*out = (int)s->sndbuf;
		return 0;
	case SO_RCVBUF:
		*out = (int)s->rcvbuf;
		return 0;
	default:
		fake_blame(k, FAKE_UNKNOWN);
		return -ENOPROTOOPT;
	}
}

/* Only the state of the connection. */
static long
tcp_info(const struct fake_sock *s, void *v, socklen_t *len)
{
	struct tcp_info info = { .tcpi_state = TCP_ESTABLISHED };

	if (s->state == FAKE_CLOSED)
		info.tcpi_state = TCP_CLOSE;
	else if (s->state == FAKE_SYN_SENT)
		info.tcpi_state = TCP_SYN_SENT;
	else if (s->done)
		info.tcpi_state = s->shut & 2 ? TCP_CLOSE : TCP_CLOSE_WAIT;
	*len = MIN(*len, (socklen_t)sizeof(info));
	memcpy(v, &info, *len);
	return 0;
}

static long
fk_getsockopt(void *ctx, int fd, int lvl, int opt, void *v, socklen_t *len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_getsockopt, fd);
	struct fake_sock *s = NULL;
	char text[32];
	int value;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)) && lvl == IPPROTO_TCP && opt == TCP_INFO) {
		r = tcp_info(s, v, len);
	} else if (r == 0 && s && lvl == SOL_SOCKET && opt == SO_PEERCRED) {
		memset(v, 0, *len); /* no process that exists */
	} else if (r == 0 && s) {
		r = socket_option(k, s, lvl, opt, &value);
		if (r == 0 && *len >= sizeof(value)) {
			memcpy(v, &value, sizeof(value));
			*len = sizeof(value);
			snprintf(k->reply, sizeof(k->reply), " (%d)", value);
		}
	}
	return fake_leave(k, r, "getsockopt(%d, %s)", fd, option_text(lvl, opt, text,
	    sizeof(text)));
}

static long
would_block(struct fake *k, int fd, long r)
{
	if (r == -EAGAIN && !k->files[fd]->nonblock)
		fake_blame(k, FAKE_BLOCKED);
	return r;
}

static long
fk_recvfrom(void *ctx, int fd, void *buf, size_t len, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_recvfrom, fd);
	struct fake_sock *s;

	if (len == 0)
		fake_blame(k, FAKE_RECV_ZERO);
	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		r = fake_sock_recv(s, buf, len, flags);
		if (!(flags & MSG_DONTWAIT))
			r = would_block(k, fd, r);
		k->moves += r > 0 && !(flags & MSG_PEEK);
	}
	return fake_leave(k, r, "recvfrom(%d, %zu%s)", fd, len, flags & MSG_PEEK ? ", PEEK" : "");
}

static long
fk_sendto(void *ctx, int fd, const void *buf, size_t len, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_sendto, fd);
	struct fake_sock *s;

	if (len == 0)
		fake_blame(k, FAKE_RECV_ZERO);
	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		r = fake_sock_send(s, buf, len, flags);
		if (!(flags & MSG_DONTWAIT))
			r = would_block(k, fd, r);
		/* SIGPIPE would have ended the process */
		if (r == -EPIPE && !(flags & MSG_NOSIGNAL))
			fake_blame(k, FAKE_BLOCKED);
		k->moves += r > 0;
	}
	return fake_leave(k, r, "sendto(%d, %zu%s%s)", fd, len, flags & MSG_MORE ? ", MORE" : "",
	    flags & MSG_ZEROCOPY ? ", ZEROCOPY" : "");
}

static long
send_vector(struct fake_sock *s, const struct iovec *iov, size_t n, int flags)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++) {
		long r;

		if (iov[i].iov_len == 0)
			continue;
		r = fake_sock_send(s, iov[i].iov_base, iov[i].iov_len,
		    i + 1 < n ? flags | MSG_MORE : flags);
		if (r < 0)
			return sum ? sum : r;
		sum += r;
		if ((size_t)r < iov[i].iov_len)
			break;
	}
	return sum;
}

static long
fk_sendmsg(void *ctx, int fd, const struct msghdr *m, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_sendmsg, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = would_block(k, fd, s->type == SOCK_DGRAM
				? fake_dgram_send(s, m)
				: send_vector(s, m->msg_iov, m->msg_iovlen, flags));
	k->moves += r > 0;
	return fake_leave(k, r, "sendmsg(%d, %zu%s)", fd, m->msg_iovlen,
	    flags & MSG_MORE ? ", MORE" : "");
}

static long
fk_writev(void *ctx, int fd, const struct iovec *iov, int n)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_writev, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = would_block(k, fd, send_vector(s, iov, (size_t)n, 0));
	return fake_leave(k, r, "writev(%d, %d)", fd, n);
}

static long
read_count(struct fake_file *f, void *buf, size_t len)
{
	if (len < sizeof(f->count))
		return -EINVAL;
	if (!f->count)
		return -EAGAIN;
	memcpy(buf, &f->count, sizeof(f->count));
	f->count = 0;
	fake_file_wake(f, EPOLLOUT);
	return (long)sizeof(f->count);
}

/* Each write is reported, whether the one before was read or not. */
static long
write_count(struct fake_file *f, const void *buf, size_t len)
{
	uint64_t by;

	if (len < sizeof(by))
		return -EINVAL;
	memcpy(&by, buf, sizeof(by));
	if (by == UINT64_MAX)
		return -EINVAL;
	if (UINT64_MAX - f->count <= by)
		return -EAGAIN;
	f->count += by;
	fake_file_wake(f, EPOLLIN);
	return (long)sizeof(by);
}

static long
fk_read(void *ctx, int fd, void *buf, size_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_read, fd);
	struct fake_file *f = r == 0 ? fake_file_of(k, fd) : NULL;

	if (r == 0 && !f)
		r = -EBADF;
	else if (r == 0 && f->kind == FAKE_KIND_SIGNAL)
		r = would_block(k, fd, fake_signal_read(f, buf, len));
	else if (r == 0 && f->kind == FAKE_KIND_EVENT)
		r = would_block(k, fd, read_count(f, buf, len));
	else if (r == 0 && f->kind == FAKE_KIND_SOCK)
		r = would_block(k, fd, fake_sock_recv(f->sock, buf, len, 0));
	else if (r == 0 && f->kind == FAKE_KIND_FILE)
		r = fake_file_read(f, buf, len);
	else if (r == 0 && f->kind == FAKE_KIND_PIPE && !f->writes)
		r = would_block(k, fd, fake_pipe_read(f, buf, len));
	else if (r == 0)
		r = -EINVAL;
	k->moves += r > 0;
	return fake_leave(k, r, "read(%d, %zu)", fd, len);
}

static long
fk_write(void *ctx, int fd, const void *buf, size_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_write, fd);
	struct fake_file *f = fd >= 0 && fd < FAKE_MAX_FD ? k->files[fd] : NULL;
	struct fake_sock *s;

	if (r == 0 && f && f->kind == FAKE_KIND_EVENT)
		r = would_block(k, fd, write_count(f, buf, len));
	else if (r == 0 && f && f->kind == FAKE_KIND_FILE)
		r = fake_file_write(k, f, buf, len);
	else if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = would_block(k, fd, fake_sock_send(s, buf, len, 0));
	return fake_leave(k, r, "write(%d, %zu)", fd, len);
}

static long
fk_shutdown(void *ctx, int fd, int how)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_shutdown, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r)))
		r = fake_sock_shutdown(s, how);
	return fake_leave(k, r, "shutdown(%d, %s)", fd,
	    how == SHUT_WR ? "WR" : how == SHUT_RD ? "RD" : "RDWR");
}

static long
fk_close(void *ctx, int fd)
{
	struct fake *k = ctx;
	long fault = fake_enter(k, SYS_CALL_close, fd);
	long r = fake_file_close(k, fd); /* the descriptor is closed even if close() fails */

	return fake_leave(k, fault ? fault : r, "close(%d)", fd);
}

static long
fk_close_range(void *ctx, unsigned int lo, unsigned int hi)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_close_range, -1);

	if (r == 0 && lo > hi)
		r = -EINVAL;
	for (unsigned int fd = lo; r == 0 && fd <= hi && fd < FAKE_MAX_FD; fd++)
		if (k->files[fd])
			fake_file_close(k, (int)fd);
	return fake_leave(k, r, "close_range(%u, %u)", lo, hi);
}

static long
fk_clock_gettime(void *ctx, clockid_t id, struct timespec *ts)
{
	struct fake *k = ctx;
	uint64_t ns = k->now;

	fake_enter(k, SYS_CALL_clock_gettime, -1);
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		ns += FAKE_REAL_NS - FAKE_MONO_NS;
	ts->tv_sec = (time_t)(ns / FAKE_SEC);
	ts->tv_nsec = (long)(ns % FAKE_SEC);
	return 0;
}

static long
fk_epoll_create1(void *ctx, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_epoll_create1, -1);

	(void)flags;
	if (r == 0)
		r = fake_file_new(k, FAKE_KIND_EPOLL, 1);
	if (r > 0) {
		struct fake_epoll *ep = fake_zalloc(sizeof(*ep));

		list_init(&ep->items);
		list_init(&ep->ready);
		k->files[r]->ep = ep;
	}
	return fake_leave(k, r, "epoll_create1()");
}

static long
fk_epoll_ctl(void *ctx, int ep, int op, int fd, struct epoll_event *ev)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_epoll_ctl, fd);
	char text[64];

	if (r == 0)
		r = fake_epoll_ctl(k, ep, op, fd, ev);
	if (op == EPOLL_CTL_DEL)
		return fake_leave(k, r, "epoll_ctl(%d, DEL, %d)", ep, fd);
	return fake_leave(k, r, "epoll_ctl(%d, %s, %d, %s)", ep, op == EPOLL_CTL_ADD ? "ADD" :
	    "MOD", fd,
	    fake_epoll_text(ev->events, text, sizeof(text)));
}

static long
fk_epoll_wait(void *ctx, int ep, struct epoll_event *ev, int n, int ms)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_epoll_wait, -1);

	if (r == 0)
		r = fake_epoll_wait(k, ep, ev, n, ms);
	return fake_leave(k, r, "epoll_wait(%d, %d)", ep, ms);
}

static long
fk_ioctl(void *ctx, int fd, unsigned long req, int *arg)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_ioctl, fd);
	struct fake_sock *s;

	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		if (req == SIOCOUTQ) {
			*arg = s->peer ? (int)(s->peer->in.written - s->peer->in.arrived) : 0;
		} else if (req == FIONREAD) {
			*arg = (int)(s->in.arrived - s->in.read);
		} else {
			fake_blame(k, FAKE_UNKNOWN);
			r = -ENOTTY;
		}
		if (r == 0)
			snprintf(k->reply, sizeof(k->reply), " (%d)", *arg);
	}
	return fake_leave(k, r, "ioctl(%d, %s)", fd, req == SIOCOUTQ ? "SIOCOUTQ" : "FIONREAD");
}

static long
fk_fcntl(void *ctx, int fd, int cmd, long arg)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_fcntl, fd);
	struct fake_file *f = NULL;

	if (r == 0 && (cmd == F_SETPIPE_SZ || cmd == F_GETPIPE_SZ)) {
		f = fake_file_of(k, fd);
		if (f)
			r = fake_pipe_resize(k, f, cmd == F_SETPIPE_SZ ? arg : 0);
		return fake_leave(k, f ? r : -EBADF, "fcntl(%d, %s, %ld)", fd,
		    cmd == F_SETPIPE_SZ ? "SETPIPE_SZ" : "GETPIPE_SZ", arg);
	}
	if (r == 0 && (cmd == F_ADD_SEALS || cmd == F_GET_SEALS)) {
		f = fake_file_of(k, fd);
		r = f ? fake_file_seal(f, cmd, arg) : -EBADF;
		return fake_leave(k, r, "fcntl(%d, %s)", fd,
		    cmd == F_ADD_SEALS ? "ADD_SEALS" : "GET_SEALS");
	}
	if (r == 0 && cmd != F_GETFL && cmd != F_SETFL && cmd != F_GETFD && cmd != F_SETFD) {
		fake_blame(k, FAKE_UNKNOWN);
		r = -EINVAL;
	}
	if (r == 0 && (f = fake_file_of(k, fd))) {
		if (cmd == F_SETFL)
			f->nonblock = (int)(arg & O_NONBLOCK);
		r = cmd == F_GETFL ? O_RDWR | (f->nonblock ? O_NONBLOCK : 0) : cmd == F_GETFD;
	}
	return fake_leave(k, f ? r : r ? r : -EBADF, "fcntl(%d, %d)", fd, cmd);
}

static long
fk_eventfd2(void *ctx, unsigned int count, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_eventfd2, -1);

	if (r == 0)
		r = fake_file_new(k, FAKE_KIND_EVENT, flags & EFD_NONBLOCK);
	if (r > 0)
		k->files[r]->count = count;
	return fake_leave(k, r, "eventfd2(%u)", count);
}

/* Calls that the fake does not support, and those that it does. */
static long
not_here(struct fake *k, enum sys_call call)
{
	fake_enter(k, call, -1);
	fake_blame(k, FAKE_UNKNOWN);
	return fake_leave(k, -ENOSYS, "%s()", ledger_name(call));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Woverride-init"
#define SYS_ROW(name, when, params, args)                           \
	static long no_##name(void *ctx UNPAREN params)       \
	{                                                     \
		return not_here(ctx, SYS_CALL_##name);        \
	}
#include "base/sys.tbl.h"
#undef SYS_ROW

const struct sys_ops sys_fake = {
#define SYS_ROW(name, when, params, args) .name = no_##name,
#include "base/sys.tbl.h"
#undef SYS_ROW
	.accept4 = fk_accept4,
	.bind = fk_bind,
	.clock_gettime = fk_clock_gettime,
	.close = fk_close,
	.close_range = fk_close_range,
	.connect = fk_connect,
	.epoll_create1 = fk_epoll_create1,
	.epoll_ctl = fk_epoll_ctl,
	.epoll_wait = fk_epoll_wait,
	.eventfd2 = fk_eventfd2,
	.fallocate = fake_fallocate,
	.fcntl = fk_fcntl,
	.fstat = fake_fstat,
	.ftruncate = fake_ftruncate,
	.futex = fake_futex,
	.getpeername = fk_getpeername,
	.getpid = fake_getpid,
	.getpriority = fake_getpriority,
	.getrandom = fake_getrandom,
	.getrusage = fake_getrusage,
	.getsockname = fk_getsockname,
	.getsockopt = fk_getsockopt,
	.ioctl = fk_ioctl,
	.kill = fake_kill,
	.listen = fk_listen,
	.madvise = fake_madvise,
	.memfd_create = fake_memfd_create,
	.mmap = fake_mmap,
	.munmap = fake_munmap,
	.openat = fake_openat,
	.pipe2 = fake_pipe2,
	.pread64 = fake_pread64,
	.prlimit64 = fake_prlimit64,
	.pwrite64 = fake_pwrite64,
	.read = fk_read,
	.recvfrom = fk_recvfrom,
	.recvmmsg = fake_recvmmsg,
	.rename = fake_rename,
	.rt_sigaction = fake_rt_sigaction,
	.rt_sigprocmask = fake_rt_sigprocmask,
	.sched_getaffinity = fake_sched_getaffinity,
	.sched_setaffinity = fake_sched_setaffinity,
	.sched_yield = fake_sched_yield,
	.sendmmsg = fake_sendmmsg,
	.sendmsg = fk_sendmsg,
	.sendto = fk_sendto,
	.setpriority = fake_setpriority,
	.setsockopt = fk_setsockopt,
	.shutdown = fk_shutdown,
	.signalfd4 = fake_signalfd4,
	.socket = fk_socket,
	.splice = fake_splice,
	.stat = fake_stat,
	.umask = fake_umask,
	.uname = fake_uname,
	.unlink = fake_unlink,
	.write = fk_write,
	.writev = fk_writev,
};
#pragma GCC diagnostic pop
