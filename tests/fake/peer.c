/* The other ends of connections: clients and origins that a test controls. */
#include <stdio.h>
#include <string.h>

#include "fake/kernel_int.h"

static void
notify_runs(struct fake *k, void *arg)
{
	struct fake_sock *s = arg;

	s->notified = 0;
	if (s->notify)
		s->notify(k, s->notify_arg);
}

void
fake_sock_wake(struct fake_sock *s, uint32_t key)
{
	for (struct fake_file *f = s->file; f; f = f->same)
		fake_file_wake(f, key);
	if (s->notify && !s->notified) {
		s->notified = 1;
		fake_after(s->k, s->react, notify_runs, s);
	}
}

void
fake_peer_notify(struct fake_sock *s, uint64_t react_ns, fake_fn *fn, void *arg)
{
	s->notify = fn;
	s->notify_arg = arg;
	s->react = react_ns;
	if (fn)
		fake_sock_wake(s, 0);
}

static void
address(struct sockaddr_storage *a, unsigned int host, unsigned int port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)a;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(host);
	in->sin_port = htons((uint16_t)port);
}

void
fake_clients_from(struct fake *k, unsigned int port)
{
	k->client_port = port;
}

/* Clients are 10.0.0.1, 10.0.0.2 and so on. */
struct fake_sock *
fake_client(struct fake *k, unsigned int port)
{
	struct fake_sock *s = fake_sock_new(k, AF_INET);
	struct sockaddr_storage to = { 0 };

	address(&s->local, 0x0a000001u + k->next_client % 250,
		k->client_port + k->next_client % 10000);
	k->next_client++;
	address(&to, INADDR_LOOPBACK, port);
	fake_sock_connect(s, (struct sockaddr *)&to, sizeof(struct sockaddr_in));
	return s;
}

struct fake_sock *
fake_client_unix(struct fake *k, const char *path)
{
	struct fake_sock *s = fake_sock_new(k, AF_UNIX);
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	fake_sock_connect(s, (struct sockaddr *)&un, sizeof(un));
	return s;
}

struct fake_sock *
fake_origin(struct fake *k, unsigned int port, int backlog)
{
	struct fake_sock *s = fake_sock_new(k, AF_INET);

	address(&s->local, INADDR_LOOPBACK, port);
	if (fake_sock_listen(s, backlog) != 0)
		assert(!"the port is taken");
	return s;
}

struct fake_sock *
fake_origin_accept(struct fake_sock *origin)
{
	return fake_sock_accept(origin);
}

long
fake_peer_send(struct fake_sock *s, const void *buf, size_t len)
{
	return fake_sock_send(s, buf, len, MSG_NOSIGNAL);
}

long
fake_peer_recv(struct fake_sock *s, void *buf, size_t len)
{
	return fake_sock_recv(s, buf, len, 0);
}

void
fake_peer_shut(struct fake_sock *s)
{
	fake_sock_shutdown(s, SHUT_WR);
}

void
fake_peer_close(struct fake_sock *s)
{
	s->notify = NULL;
	fake_sock_close(s);
}

void
fake_peer_reset(struct fake_sock *s)
{
	s->linger0 = 1;
	fake_peer_close(s);
}

int
fake_peer_is_connected(const struct fake_sock *s)
{
	return s->state == FAKE_EST;
}

unsigned int
fake_peer_port(const struct fake_sock *s)
{
	return fake_addr_port(&s->local);
}

unsigned int
fake_peer_remote_port(const struct fake_sock *s)
{
	return fake_addr_port(&s->remote);
}

unsigned int
fake_fd_port(const struct fake *k, int fd)
{
	const struct fake_file *f = fd >= 0 && fd < FAKE_MAX_FD ? k->files[fd] : NULL;

	return f && f->sock ? fake_addr_port(&f->sock->local) : 0;
}

uint64_t
fake_fd_unread(const struct fake *k, int fd)
{
	const struct fake_file *f = fd >= 0 && fd < FAKE_MAX_FD ? k->files[fd] : NULL;

	return f && f->sock ? fake_peer_unread(f->sock) : 0;
}

uint64_t
fake_peer_unread(const struct fake_sock *s)
{
	return s->in.arrived - s->in.read;
}

uint64_t
fake_peer_undelivered(const struct fake_sock *s)
{
	return s->peer ? s->peer->in.written - s->peer->in.read : 0;
}

uint32_t
fake_peer_poll(struct fake_sock *s)
{
	return fake_sock_poll(s);
}
