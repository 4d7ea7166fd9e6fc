/* A loop on the real kernel and sockets on loopback, for the tests of net. */
#ifndef TACIT_TESTS_NET_RIG_H
#define TACIT_TESTS_NET_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"
#include "event/loop.h"
#include "net/addr.h"
#include "unit/test.h"

#define MAX_FD 512

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

static void
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
static struct addr
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

#endif
