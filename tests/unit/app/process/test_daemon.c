#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/process/daemon.h"
#include "base/sys.h"
#include "unit/asleep.h"
#include "unit/test.h"

static struct sys sys;

/* Runs fn in a child process, which keeps the test's own streams and session; its exit code. */
static int
in_process(int (*fn)(void))
{
	pid_t pid;
	int status = 0;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(fn());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
child_serves(void)
{
	struct daemon d;
	enum daemon_side side;
	struct stat null_st, out_st;
	int code = 99;
	pid_t parent = getpid();
	char stat_of_parent[64];

	if (daemon_fork(&d, &sys, &side, &code))
		return 98;
	if (side == DAEMON_PARENT)
		return code;
	if (getsid(0) != getpid())
		_exit(3);
	/* the parent waits for daemon_ready() */
	snprintf(stat_of_parent, sizeof(stat_of_parent), "/proc/%d/stat", (int)parent);
	while (!is_asleep(stat_of_parent))
		sched_yield();
	if (getppid() != parent)
		_exit(4);
	daemon_ready(&d);
	daemon_ready(&d);
	if (stat("/dev/null", &null_st) || fstat(1, &out_st) || null_st.st_rdev != out_st.st_rdev)
		_exit(5);
	_exit(0);
}

static int
child_fails(void)
{
	struct daemon d;
	enum daemon_side side;
	int code = 99;

	if (daemon_fork(&d, &sys, &side, &code))
		return 98;
	if (side == DAEMON_CHILD)
		_exit(7);
	return code;
}

static int
child_is_killed(void)
{
	struct daemon d;
	enum daemon_side side;
	int code = 99;

	if (daemon_fork(&d, &sys, &side, &code))
		return 98;
	if (side == DAEMON_CHILD) {
		kill(getpid(), SIGKILL);
		pause();
	}
	return code;
}

static long
no_fork(void *ctx)
{
	(void)ctx;
	return -EAGAIN;
}

static void
parent_waits(void **state)
{
	(void)state;
	assert_int_equal(in_process(child_serves), 0);
	assert_int_equal(in_process(child_fails), 7);
	assert_int_equal(in_process(child_is_killed), 1);
}

static void
fork_fails(void **state)
{
	struct sys_ops ops = sys_linux;
	struct sys broken;
	struct daemon d;
	enum daemon_side side;
	int code, before, after;

	(void)state;
	ops.clone = no_fork;
	sys_init(&broken, &ops, NULL);
	before = dup(0);
	assert_int_equal(daemon_fork(&d, &broken, &side, &code), -EAGAIN);
	after = dup(0);
	/* no descriptor stays open */
	assert_int_equal(after, before + 1);
	close(before);
	close(after);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parent_waits),
		cmocka_unit_test(fork_fails),
	};

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
