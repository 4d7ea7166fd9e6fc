/* Datagram sockets, of UDP and unix: whole messages, in order, none of them twice. */
#include <string.h>

#include "fake/kernel_int.h"

struct fake_dgram {
	struct fake_dgram *next;
	struct fake_sock *to;
	struct sockaddr_storage from;
	size_t len;
	int fd; /* that it brings; -1: none */
	char text[];
};

static struct fake_sock *
socket_at(struct fake *k, const struct sockaddr_storage *a)
{
	struct fake_sock *s = k->socks;

	for (; s; s = s->all) {
		if (s->dead || s->type != SOCK_DGRAM ||
			(s->family == AF_UNIX) != (a->ss_family == AF_UNIX))
			continue;
		if (a->ss_family == AF_UNIX
				? s->bound && memcmp(&s->local, a, sizeof(struct sockaddr_un)) == 0
				: fake_addr_port(&s->local) == fake_addr_port(a))
			return s;
	}
	return NULL;
}

long
fake_dgram_bind(struct fake_sock *s)
{
	struct sockaddr_storage at = s->local;

	s->local.ss_family = 0;
	if (socket_at(s->k, &at)) {
		s->local = (struct sockaddr_storage){ .ss_family = (sa_family_t)s->family };
		return -EADDRINUSE;
	}
	s->local = at;
	return 0;
}

static void
take_port(struct fake_sock *s)
{
	if (s->family != AF_UNIX && fake_addr_port(&s->local) == 0)
		fake_addr_set_port(&s->local, s->k->next_port++);
}

long
fake_dgram_connect(struct fake_sock *s, const struct sockaddr *sa, socklen_t len)
{
	struct sockaddr_storage to = { 0 };

	memcpy(&to, sa, MIN((size_t)len, sizeof(to)));
	if (s->family == AF_UNIX && !socket_at(s->k, &to))
		return -ENOENT;
	s->remote = to;
	s->phase = FAKE_CONNECTED;
	take_port(s);
	return 0;
}

static void
drop(struct fake *k, struct fake_dgram *d)
{
	if (d->fd >= 0 && k->files[d->fd])
		(void)fake_file_close(k, d->fd);
	fake_release(d);
}

/* A full socket drops what comes by UDP; a unix socket has its sender wait. */
static void
arrive(struct fake_sock *to, struct fake_dgram *d)
{
	struct fake_dgram **at = &to->dgrams;

	if (to->dead || to->dgram_bytes + d->len > to->rcvbuf) {
		drop(to->k, d);
		return;
	}
	while (*at)
		at = &(*at)->next;
	*at = d;
	to->dgram_bytes += d->len;
	fake_sock_wake(to, EPOLLIN);
}

static void
datagram_lands(struct fake *k, void *arg)
{
	struct fake_dgram *d = arg;

	(void)k;
	arrive(d->to, d);
}

/* The port is closed: the host reports it, and a connected socket returns the error once. */
static void
refusal_arrives(struct fake *k, void *arg)
{
	struct fake_sock *s = arg;

	(void)k;
	if (s->dead)
		return;
	s->err = ECONNREFUSED;
	fake_sock_wake(s, 0);
}

static void
refuse(struct fake_sock *s, const struct fake_route *r)
{
	if (s->phase != FAKE_CONNECTED)
		return;
	if (r->delay)
		fake_after(s->k, 2 * r->delay, refusal_arrives, s);
	else
		refusal_arrives(s->k, s);
}

static struct fake_dgram *
make_datagram(struct fake_sock *from, struct fake_sock *to, const struct iovec *iov, size_t n)
{
	struct fake_dgram *d;
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += iov[i].iov_len;
	d = fake_zalloc(sizeof(*d) + len);
	for (size_t i = 0; i < n; i++) {
		if (iov[i].iov_len)
			memcpy(d->text + d->len, iov[i].iov_base, iov[i].iov_len);
		d->len += iov[i].iov_len;
	}
	d->to = to;
	d->from = from->local;
	d->fd = -1;
	return d;
}

/* A copy of the descriptor that a message brings. */
static int
passed_fd(struct fake *k, const struct msghdr *m)
{
	const struct cmsghdr *c = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL;
	int fd;

	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fake_dup(k, fd);
}

static long
send_to(struct fake_sock *s, const struct sockaddr_storage *at, const struct msghdr *m)
{
	struct fake_sock *to = s->peer ? s->peer : socket_at(s->k, at);
	struct fake_route r = fake_route_to(s->k, fake_addr_port(at));
	struct fake_dgram *d;
	long len;

	if (s->family == AF_UNIX && !to)
		return m->msg_name ? -ENOENT : -ECONNREFUSED;
	take_port(s);
	d = make_datagram(s, to, m->msg_iov, m->msg_iovlen);
	len = (long)d->len;
	d->fd = passed_fd(s->k, m);
	if (s->family == AF_UNIX && to->dgram_bytes + d->len > to->rcvbuf) {
		drop(s->k, d);
		return -EAGAIN;
	}
	if (to && r.path != FAKE_BLACKHOLE && r.path != FAKE_REFUSED) {
		if (r.delay || s->delay)
			fake_after_owned(s->k, r.delay + s->delay, datagram_lands, d, 1);
		else
			arrive(to, d);
		to->delay = s->was_fd ? r.delay : to->delay;
		return len;
	}
	fake_release(d);
	if (r.path != FAKE_BLACKHOLE)
		refuse(s, &r);
	return len;
}

long
fake_dgram_send(struct fake_sock *s, const struct msghdr *m)
{
	struct sockaddr_storage to = s->remote;

	if (s->err) {
		int err = s->err;

		s->err = 0;
		return -err;
	}
	if (m->msg_name) {
		memset(&to, 0, sizeof(to));
		memcpy(&to, m->msg_name, MIN((size_t)m->msg_namelen, sizeof(to)));
	} else if (s->phase != FAKE_CONNECTED) {
		return -EDESTADDRREQ;
	}
	return send_to(s, &to, m);
}

long
fake_dgram_recv(struct fake_sock *s, void *buf, size_t len, int flags)
{
	struct fake_dgram *d = s->dgrams;

	if (s->err) {
		int err = s->err;

		s->err = 0;
		return -err;
	}
	if (!d)
		return -EAGAIN;
	len = MIN(len, d->len);
	memcpy(buf, d->text, len);
	if (flags & MSG_PEEK)
		return (long)len;
	/* A test's end answers the socket that has asked. */
	if (!s->was_fd) {
		s->remote = d->from;
		s->phase = FAKE_CONNECTED;
	}
	s->dgrams = d->next;
	s->dgram_bytes -= d->len;
	fake_release(d);
	return (long)len;
}

void
fake_dgrams_free(struct fake_sock *s)
{
	struct fake_dgram *d;

	while ((d = s->dgrams)) {
		s->dgrams = d->next;
		drop(s->k, d);
	}
	s->dgram_bytes = 0;
}

long
fake_sendmmsg(void *ctx, int fd, struct mmsghdr *v, unsigned int n, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_sendmmsg, fd);
	struct fake_sock *s;

	(void)flags;
	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		unsigned int done = 0;

		if (s->type != SOCK_DGRAM)
			fake_blame(k, FAKE_UNKNOWN);
		while (done < n && (r = fake_dgram_send(s, &v[done].msg_hdr)) >= 0)
			v[done++].msg_len = (unsigned int)r;
		if (done)
			r = (long)done;
		k->moves += done;
	}
	return fake_leave(k, r, "sendmmsg(%d, %u)", fd, n);
}

/* --- a test's ends --- */

struct fake_sock *
fake_receiver(struct fake *k, unsigned int port)
{
	struct fake_sock *s = fake_sock_new(k, AF_INET);

	s->type = SOCK_DGRAM;
	((struct sockaddr_in *)(void *)&s->local)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fake_addr_set_port(&s->local, port);
	if (fake_dgram_bind(s) != 0)
		assert(!"the port is taken");
	return s;
}

struct fake_sock *
fake_receiver_unix(struct fake *k, const char *path)
{
	struct fake_sock *s = fake_sock_new(k, AF_UNIX);
	struct sockaddr_un *un = (struct sockaddr_un *)(void *)&s->local;

	assert(strlen(path) < sizeof(un->sun_path));
	s->type = SOCK_DGRAM;
	memcpy(un->sun_path, path, strlen(path));
	s->bound = ++k->last_inode;
	return s;
}

struct fake_sock *
fake_pair(struct fake *k, int *fd)
{
	struct fake_sock *own = fake_sock_new(k, AF_UNIX), *peer = fake_sock_new(k, AF_UNIX);

	*fd = fake_file_new(k, FAKE_KIND_SOCK, 1);
	assert(*fd >= 0);
	own->type = peer->type = SOCK_DGRAM;
	own->phase = peer->phase = FAKE_CONNECTED;
	own->peer = peer;
	peer->peer = own;
	own->was_fd = 1;
	own->file = k->files[*fd];
	own->file->sock = own;
	return peer;
}

long
fake_peer_recv_fd(struct fake_sock *s, void *buf, size_t len, int *fd)
{
	*fd = s->dgrams ? s->dgrams->fd : -1;
	return fake_dgram_recv(s, buf, len, 0);
}
