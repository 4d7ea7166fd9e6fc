#include <stdio.h>
#include <string.h>

#include <signal.h>
#include <unistd.h>

#include "app/process/signals.h"
#include "base/sys.h"
#include "event/loop.h"
#include "unit/test.h"

static struct sys sys;
static struct signals sg;
static int got[16];
static int n_got;
static int close_on;

static void
on_signal(void *owner, int sig, pid_t from)
{
	assert_ptr_equal(owner, got);
	assert_int_equal(from, getpid());
	got[n_got++] = sig;
	if (sig == close_on)
		signals_close(&sg);
}

static void
signals_are_events(void **state)
{
	struct loop_config lc = { .poller = &poller_epoll,
		.mode = INTEREST_MERGED,
		.lazy = 1,
		.max_fd = 64,
		.max_events = 8 };
	int reason = 0;
	struct loop *l;

	(void)state;
	assert_int_equal(signals_block(&sys), 0);
	/* before the loop runs: the signal stays pending */
	kill(getpid(), SIGUSR1);
	l = loop_new(&sys, &lc, &reason);
	assert_non_null(l);
	assert_int_equal(signals_open(&sg, l, on_signal, got), 0);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(n_got, 1);
	assert_int_equal(got[0], SIGUSR1);
	kill(getpid(), SIGHUP);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(got[1], SIGHUP);
	/* writing to a closed pipe returns an error and does not end the process */
	kill(getpid(), SIGPIPE);
	kill(getpid(), SIGTTIN);
	assert_int_equal(loop_turn(l, 0), 0);
	assert_int_equal(n_got, 2);
	/* the owner may close it from its handler: further signals are not delivered */
	close_on = SIGHUP;
	kill(getpid(), SIGHUP);
	kill(getpid(), SIGTERM);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(n_got, 3);
	assert_int_equal(sg.fd, -1);
	loop_free(&l);
	assert_null(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(signals_are_events) };

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
