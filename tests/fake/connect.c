/* Connections: addresses, listening, connecting, accepting. */
#include <string.h>

#include "fake/kernel_int.h"

#define SYN_RETRY_NS FAKE_SEC
#define SYN_MAX 7
#define SYN_TIMEOUT_NS (127 * FAKE_SEC)

struct fake_sock *
fake_sock_new(struct fake *k, int family)
{
	struct fake_sock *s = fake_zalloc(sizeof(*s));

	s->k = k;
	s->family = family;
	s->type = SOCK_STREAM;
	s->sndbuf = k->sndbuf;
	s->rcvbuf = k->rcvbuf;
	s->local.ss_family = (sa_family_t)family;
	s->all = k->socks;
	k->socks = s;
	return s;
}

unsigned int
fake_addr_port(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)(const void *)a)->sin_port);
	if (a->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)a)->sin6_port);
	return 0;
}

void
fake_addr_set_port(struct sockaddr_storage *a, unsigned int port)
{
	if (a->ss_family == AF_INET)
		((struct sockaddr_in *)(void *)a)->sin_port = htons((uint16_t)port);
	else if (a->ss_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)a)->sin6_port = htons((uint16_t)port);
}

socklen_t
fake_addr_len(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return sizeof(struct sockaddr_in);
	if (a->ss_family == AF_INET6)
		return sizeof(struct sockaddr_in6);
	return sizeof(struct sockaddr_un);
}

/* Any address with the right port: there is one host. */
static int
listens_at(const struct fake_sock *s, const struct sockaddr_storage *a)
{
	if (s->state != FAKE_LISTEN || (s->family == AF_UNIX) != (a->ss_family == AF_UNIX))
		return 0;
	if (a->ss_family != AF_UNIX)
		return fake_addr_port(&s->local) == fake_addr_port(a);
	return memcmp(&s->local, a, sizeof(struct sockaddr_un)) == 0;
}

int
fake_addr_is_taken(const struct fake_sock *s)
{
	for (const struct fake_sock *l = s->k->socks; l; l = l->all)
		if (l != s && listens_at(l, &s->local) && !(l->reuseport && s->reuseport))
			return 1;
	return 0;
}

/* Each of those that share an address has its turn. */
struct fake_sock *
fake_listener_at(struct fake *k, const struct sockaddr_storage *a)
{
	unsigned int n = 0, nth;

	for (const struct fake_sock *s = k->socks; s; s = s->all)
		n += listens_at(s, a) != 0;
	nth = n > 1 ? k->next_listener++ % n : 0;
	for (struct fake_sock *s = k->socks; s; s = s->all)
		if (listens_at(s, a) && nth-- == 0)
			return s;
	return NULL;
}

long
fake_sock_listen(struct fake_sock *s, int backlog)
{
	if (s->state == FAKE_LISTEN) {
		s->backlog = backlog;
		return 0;
	}
	if (s->state != FAKE_CLOSED || s->phase != FAKE_UNCONNECTED)
		return -EINVAL;
	if (fake_addr_is_taken(s))
		return -EADDRINUSE;
	if (s->family != AF_UNIX && fake_addr_port(&s->local) == 0)
		fake_addr_set_port(&s->local, s->k->next_port++);
	s->backlog = backlog;
	s->state = FAKE_LISTEN;
	return 0;
}

static void
enqueue(struct fake_sock *l, struct fake_sock *child)
{
	struct fake_sock **at = &l->queue;

	while (*at)
		at = &(*at)->queue_next;
	*at = child;
	l->queued++;
	fake_sock_wake(l, EPOLLIN);
}

void
fake_sock_embryo_ready(struct fake_sock *s)
{
	s->embryo = 0;
	if (s->listener)
		enqueue(s->listener, s);
}

static void
defer_expires(struct fake *k, void *arg)
{
	struct fake_sock *s = arg;

	(void)k;
	if (s->embryo)
		fake_sock_embryo_ready(s);
}

static void
syn_fails(struct fake_sock *s, int err)
{
	if (s->dead || s->state != FAKE_SYN_SENT)
		return;
	s->err = err;
	s->state = FAKE_CLOSED;
	s->shut = 3;
	fake_sock_wake(s, 0);
}

static void
syn_times_out(struct fake *k, void *arg)
{
	(void)k;
	syn_fails(arg, ETIMEDOUT);
}

static void
refusal_arrives(struct fake *k, void *arg)
{
	(void)k;
	syn_fails(arg, ECONNREFUSED);
}

/* Both ends are established, or the SYN is refused or dropped. */
static void
syn_arrives(struct fake *k, void *arg)
{
	struct fake_sock *s = arg, *l, *child;

	if (s->dead || s->state != FAKE_SYN_SENT)
		return;
	l = fake_listener_at(k, &s->remote);
	if (!l) {
		syn_fails(s, ECONNREFUSED);
		return;
	}
	if (l->queued > (unsigned int)MAX(l->backlog, 0)) {
		if (++s->syns >= SYN_MAX)
			syn_fails(s, ETIMEDOUT);
		else
			fake_after(k, SYN_RETRY_NS, syn_arrives, s);
		return;
	}
	child = fake_sock_new(k, l->family);
	child->state = FAKE_EST;
	child->phase = FAKE_CONNECTED;
	child->peer = s;
	child->delay = s->delay;
	child->rate = s->rate;
	child->local = s->remote;
	child->remote = s->local;
	child->linger0 = l->linger0;
	if (l->fixed_bufs && l->family != AF_UNIX) {
		child->sndbuf = l->sndbuf;
		child->rcvbuf = l->rcvbuf;
	}
	child->listener = l;
	s->peer = child;
	s->state = FAKE_EST;
	if (l->defer) {
		child->embryo = 1;
		fake_after(k, (uint64_t)l->defer * FAKE_SEC, defer_expires, child);
	} else {
		enqueue(l, child);
	}
	fake_sock_wake(s, 0);
}

void
fake_route(struct fake *k, unsigned int port, enum fake_path path, uint64_t one_way)
{
	struct fake_route r = { port, path, one_way, 0 };
	unsigned int i = 0;

	while (i < k->n_routes && k->routes[i].port != port)
		i++;
	assert(i < FAKE_MAX_ROUTES);
	k->routes[i] = r;
	if (i == k->n_routes)
		k->n_routes++;
}

void
fake_limit(struct fake *k, unsigned int port, uint64_t rate)
{
	for (unsigned int i = 0; i < k->n_routes; i++)
		if (k->routes[i].port == port)
			k->routes[i].rate = rate;
}

void
fake_on_connect(struct fake *k, fake_connect_fn *fn, void *arg)
{
	k->on_connect = fn;
	k->on_connect_arg = arg;
}

struct fake_route
fake_route_to(const struct fake *k, unsigned int port)
{
	struct fake_route r = { port, FAKE_NEAR, 0, 0 };

	for (unsigned int i = 0; i < k->n_routes; i++)
		if (k->routes[i].port == port)
			return k->routes[i];
	return r;
}

static long
connect_again(struct fake_sock *s)
{
	int err;

	if (s->phase == FAKE_CONNECTED)
		return -EISCONN;
	if (s->state == FAKE_SYN_SENT)
		return -EALREADY;
	if (s->state == FAKE_EST) {
		s->phase = FAKE_CONNECTED;
		return 0;
	}
	err = s->err ? s->err : ECONNABORTED;
	s->err = 0;
	s->shut = 0;
	s->phase = FAKE_UNCONNECTED;
	return -err;
}

static void
send_syn(struct fake_sock *s)
{
	struct fake_route r;

	if (s->was_fd && s->k->on_connect)
		s->k->on_connect(s->k, fake_addr_port(&s->remote), s->k->on_connect_arg);
	r = fake_route_to(s->k, fake_addr_port(&s->remote));
	if (s->was_fd)
		s->k->segments++;
	s->delay = r.delay;
	s->rate = r.rate;
	if (r.path == FAKE_BLACKHOLE)
		fake_after(s->k, SYN_TIMEOUT_NS, syn_times_out, s);
	else if (r.path == FAKE_REFUSED && r.delay)
		fake_after(s->k, 2 * r.delay, refusal_arrives, s);
	else if (r.path == FAKE_REFUSED)
		syn_fails(s, ECONNREFUSED);
	else if (r.path == FAKE_FAR)
		fake_after(s->k, 2 * r.delay, syn_arrives, s);
	else
		syn_arrives(s->k, s);
}

long
fake_sock_connect(struct fake_sock *s, const struct sockaddr *sa, socklen_t len)
{
	if (s->type == SOCK_DGRAM)
		return fake_dgram_connect(s, sa, len);
	if (s->state == FAKE_LISTEN)
		return -EISCONN;
	if (s->phase != FAKE_UNCONNECTED)
		return connect_again(s);
	if (len > sizeof(s->remote))
		return -EINVAL;
	memset(&s->remote, 0, sizeof(s->remote));
	memcpy(&s->remote, sa, len);
	if (s->family == AF_UNIX && !fake_listener_at(s->k, &s->remote))
		return -ECONNREFUSED;
	if (s->family != AF_UNIX && fake_addr_port(&s->local) == 0)
		fake_addr_set_port(&s->local, s->k->next_port++);
	s->state = FAKE_SYN_SENT;
	s->phase = FAKE_CONNECTING;
	s->err = 0;
	send_syn(s);
	if (s->family != AF_UNIX)
		return -EINPROGRESS;
	if (s->state != FAKE_EST) {
		s->state = FAKE_CLOSED;
		s->phase = FAKE_UNCONNECTED;
		return -EAGAIN;
	}
	s->phase = FAKE_CONNECTED;
	return 0;
}

/* Data in flight on the previous connection does not reach the next one: that is a new socket. */
long
fake_file_disconnect(struct fake_file *f)
{
	struct fake_sock *old = f->sock, *s = fake_sock_new(old->k, old->family);

	s->file = f;
	s->was_fd = old->was_fd;
	s->linger0 = old->linger0;
	s->sndbuf = old->sndbuf;
	s->rcvbuf = old->rcvbuf;
	s->fixed_bufs = old->fixed_bufs;
	s->err = old->state == FAKE_EST || old->state == FAKE_SYN_SENT ? ECONNRESET : 0;
	f->sock = s;
	old->file = NULL;
	old->linger0 = 1;
	fake_sock_close(old);
	fake_file_wake(f, 0);
	return 0;
}

struct fake_sock *
fake_sock_accept(struct fake_sock *l)
{
	struct fake_sock *s = l->queue;

	if (!s)
		return NULL;
	l->queue = s->queue_next;
	l->queued--;
	s->queue_next = NULL;
	s->listener = NULL;
	return s;
}
