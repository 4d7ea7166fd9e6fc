/*
 * For tests of net: a loop on the real kernel with sockets on loopback (rig_*), addresses from text
 * (addr_of, same_addr), and TLS hellos made from their parts (hello_make). Users: tests of net and
 * dns, and those of rule and proxy that need addresses or hellos.
 */
#ifndef TESTS_UNIT_NET_RIG_H
#define TESTS_UNIT_NET_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str.h"
#include "base/sys.h"
#include "event/loop.h"
#include "net/addr.h"
#include "unit/test.h"

/* --- a loop, and sockets on loopback --- */

#define MAX_FD 512
/* The limit of a wait that ends as soon as the event happens. */
#define PATIENCE_MS 60000

static struct sys rig_sys;
static struct loop *rig_loop;

unused static void
rig_open(enum interest_mode mode)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = mode, .max_fd = MAX_FD,
				   .max_events = 16, .lazy = 1 };
	int reason = 0;

	sys_init(&rig_sys, &sys_linux, NULL);
	rig_loop = loop_new(&rig_sys, &cfg, &reason);
	assert_non_null(rig_loop);
}

static inline void
rig_close(void)
{
	assert_int_equal(loop_fds(rig_loop), 0);
	loop_free(&rig_loop);
}

unused static void
rig_turn(int ms)
{
	assert_int_equal(loop_turn(rig_loop, ms), 0);
}

unused static uint64_t
rig_calls(enum sys_call call)
{
	return ledger_sum(&rig_sys.ledger, call);
}

/* 127.0.0.1, any port. */
static inline struct addr
rig_any(void)
{
	struct addr a = { .len = sizeof(a.u.in) };

	a.u.in.sin_family = AF_INET;
	a.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.u.in.sin_port = 0;
	return a;
}

unused static int
rig_connect(const struct addr *to)
{
	int fd = socket(addr_family(to), SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, &to->u.sa, to->len), 0);
	return fd;
}

/* A connected pair of TCP sockets, both non-blocking. */
unused static void
rig_tcp_pair(int fd[2])
{
	struct addr a = rig_any();
	int ls = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(ls, &a.u.sa, a.len), 0);
	assert_int_equal(listen(ls, 1), 0);
	assert_int_equal(addr_of_socket(&rig_sys, ls, &a), 0);
	fd[0] = rig_connect(&a);
	fd[1] = accept(ls, NULL, NULL);
	assert_true(fd[1] >= 0);
	close(ls);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fcntl(fd[i], F_SETFL, O_NONBLOCK), 0);
}

unused static int
rig_opt(int fd, int level, int opt)
{
	int v = -1;
	socklen_t len = sizeof(v);

	assert_int_equal(getsockopt(fd, level, opt, &v, &len), 0);
	return v;
}

/* --- addresses --- */

static inline struct addr
addr_of(const char *text)
{
	struct addr_spec spec;
	const char *why;

	if (addr_parse(text, ADDR_ALLOW_UNIX, &spec, &why) < 0)
		abort();
	return spec.addr;
}

static inline int
same_addr(const struct addr *a, const struct addr *b)
{
	if (addr_family(a) != addr_family(b))
		return 0;
	switch (addr_family(a)) {
	case AF_INET:
		return a->u.in.sin_port == b->u.in.sin_port &&
			a->u.in.sin_addr.s_addr == b->u.in.sin_addr.s_addr;
	case AF_INET6:
		return a->u.in6.sin6_port == b->u.in6.sin6_port &&
			a->u.in6.sin6_scope_id == b->u.in6.sin6_scope_id &&
			!memcmp(&a->u.in6.sin6_addr, &b->u.in6.sin6_addr, sizeof(struct in6_addr));
	case AF_UNIX:
		return a->len == b->len && !memcmp(&a->u, &b->u, a->len);
	default:
		return 1;
	}
}

/* --- TLS hellos, valid and invalid --- */

struct hello_parts {
	const char *record;      /* its version, 2 bytes; NULL: 3.1 */
	const char *version;     /* the message's; NULL: 3.3 */
	int type;                /* the message's; 0: 1 */
	size_t session, ciphers; /* their lengths in bytes; ciphers 0: 2 */
	int no_ciphers, no_compressions;
	int no_extensions;
	struct str extensions;
	int more_message, more_record; /* added to the length fields */
	struct str behind;             /* follows in the message */
};

static char hello_bytes[4096];

static inline void
hello_put(size_t *at, unsigned int v, size_t n)
{
	while (n--)
		hello_bytes[(*at)++] = (char)(v >> (8 * n));
}

static inline void
hello_add(size_t *at, const char *p, size_t n)
{
	if (n)
		memcpy(hello_bytes + *at, p, n);
	*at += n;
}

static inline struct str
hello_make(const struct hello_parts *h)
{
	size_t ciphers = h->no_ciphers ? 0 : h->ciphers ? h->ciphers : 2;
	size_t len = 2 + 32 + 1 + h->session + 2 + ciphers + 1 + (h->no_compressions ? 0 : 1) +
		(h->no_extensions ? 0 : 2 + h->extensions.len) + h->behind.len;
	size_t at = 0;

	memset(hello_bytes, 0, sizeof(hello_bytes));
	hello_put(&at, 22, 1);
	hello_add(&at, h->record ? h->record : "\3\1", 2);
	hello_put(&at, (unsigned int)((int)len + 4 + h->more_record), 2);
	hello_put(&at, h->type ? (unsigned int)h->type : 1, 1);
	hello_put(&at, (unsigned int)((int)len + h->more_message), 3);
	hello_add(&at, h->version ? h->version : "\3\3", 2);
	at += 32;
	hello_put(&at, (unsigned int)h->session, 1);
	at += h->session;
	hello_put(&at, (unsigned int)ciphers, 2);
	at += ciphers;
	hello_put(&at, h->no_compressions ? 0 : 1, 1);
	at += h->no_compressions ? 0 : 1;
	if (!h->no_extensions) {
		hello_put(&at, (unsigned int)h->extensions.len, 2);
		hello_add(&at, h->extensions.p, h->extensions.len);
	}
	if (h->behind.len)
		hello_add(&at, h->behind.p, h->behind.len);
	return (struct str){ hello_bytes, at };
}

#define HELLO_SNI_A "\0\0\0\6\0\4\0\0\1a"
#define HELLO_ALPN "\0\20\0\16\0\14\2h2\10http/1.1"
#define HELLO_GROUPS "\0\12\0\4\0\2\0\27"
#define HELLO_TICKET "\0\43\0\0"

#endif
