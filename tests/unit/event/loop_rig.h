/* A loop with two pairs of real sockets, and handlers that note their letter. */
#ifndef TACIT_TESTS_LOOP_RIG_H
#define TACIT_TESTS_LOOP_RIG_H

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"
#include "event/loop.h"
#include "unit/test.h"

#define MAX_FD 256
#define LOG_MAX 64

struct rig {
	struct sys sys;
	struct loop *l;
	int a[2], b[2];
	char log[LOG_MAX]; /* a letter for each handler that ran */
	int n;
	int read_some;     /* handlers read what is available */
	int close_b;       /* the handler of a removes b from the loop */
	uint32_t last_ev;
};

static struct rig rig;

static void
note(char c)
{
	assert_true(rig.n < LOG_MAX - 1);
	rig.log[rig.n++] = c;
	rig.log[rig.n] = '\0';
}

static void
on_fd(void *owner, int fd, uint32_t ev)
{
	char buf[16];

	rig.last_ev = ev;
	note(*(const char *)owner);
	if (rig.read_some && (ev & EV_R)) {
		while (read(fd, buf, sizeof(buf)) > 0)
			loop_progress(rig.l, fd);
		loop_again(rig.l, fd, DIR_R);
	}
	if (rig.close_b && fd == rig.a[0]) {
		rig.close_b = 0;
		loop_forget(rig.l, rig.b[0]);
	}
}

static void
setup_poller(const struct poller_ops *poller, enum interest_mode mode, int lazy, int max_events)
{
	struct loop_config cfg = { .poller = poller, .mode = mode, .max_fd = MAX_FD,
				   .max_events = max_events, .lazy = lazy };
	int reason = 0;

	memset(&rig, 0, sizeof(rig));
	sys_init(&rig.sys, &sys_linux, NULL);
	rig.l = loop_new(&rig.sys, &cfg, &reason);
	assert_non_null(rig.l);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, rig.a), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, rig.b), 0);
	rig.read_some = 1;
}

static void
setup_events(enum interest_mode mode, int lazy, int max_events)
{
	setup_poller(&poller_epoll, mode, lazy, max_events);
}

static void
setup_mode(enum interest_mode mode, int lazy)
{
	setup_events(mode, lazy, 16);
}

static int
setup(void **st)
{
	(void)st;
	setup_mode(INTEREST_MERGED, 1);
	return 0;
}

static int
teardown(void **st)
{
	struct interest in;
	void *owner;
	int *fds[] = { rig.a, rig.b };

	(void)st;
	for (int i = 0; i < 2; i++) {
		if (loop_peek(rig.l, fds[i][0], &in, &owner) == 0)
			loop_forget(rig.l, fds[i][0]);
		close(fds[i][0]);
		close(fds[i][1]);
	}
	assert_int_equal(loop_fds(rig.l), 0);
	loop_free(&rig.l);
	assert_null(rig.l);
	return 0;
}

static void
want_read(int fd, enum loop_class cls, const char *name)
{
	assert_int_equal(loop_add(rig.l, fd, cls, on_fd, (void *)(uintptr_t)name), 0);
	loop_want(rig.l, fd, EV_R);
	loop_again(rig.l, fd, DIR_R);
}

static void
turn(void)
{
	assert_int_equal(loop_turn(rig.l, 0), 0);
}

#endif
