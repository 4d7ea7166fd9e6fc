#define _GNU_SOURCE
#include <stdio.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/process/forbidden_calls.h"
#include "app/process/syscall_filter.h"
#include "base/compiler.h"
#include "unit/test.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* Runs it in a process of its own, under the filter. Returns what it returned, or -1. */
static int
under_filter(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || forbidden_calls_install())
			_exit(255);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int
errno_of(long r)
{
	return r < 0 ? errno : 0;
}

#ifdef TACIT_SECCOMP
#include <seccomp.h>

/* The number of rows that this kernel's architecture has, and how many of these fail as they
 * should. */
static int have, refused;

static void
try_row(const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (nr < 0)
		return;
	have++;
	/* Arguments that none of them could do anything with. */
	if (errno_of(syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L)) == EPERM)
		refused++;
	else
		fprintf(stderr, "%s is allowed\n", name);
}

static int
tries_each_row(void)
{
	/* Some take no argument: first it must be sure that there is a filter. */
	if (errno_of(unshare(0)) != EPERM)
		return 1;
#define FORBIDDEN_CALL(name, why) try_row(#name);
#include "app/process/forbidden_calls.tbl.h"
#undef FORBIDDEN_CALL
	return have > 40 && refused == have ? 0 : 2;
}

static void
forbids_each_call_of_the_table(void **state)
{
	(void)state;
	if (!syscall_filter_is_built())
		skip();
	assert_int_equal(under_filter(tries_each_row), 0);
}
#endif

static int
forks_into(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0L, 0L, 0L, 0L);

	if (pid == 0)
		_exit(0);
	return errno_of(pid);
}

static int
makes_namespaces(void)
{
	static const unsigned long flags[] = { CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET,
		CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS };

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (forks_into(flags[i]) != EPERM)
			return 1 + (int)i;
	return forks_into(0) ? 100 : 0;
}

static void
forbids_namespaces_but_not_processes(void **state)
{
	(void)state;
	if (!syscall_filter_is_built())
		skip();
	assert_int_equal(under_filter(makes_namespaces), 0);
}

static int
types_for_another(void)
{
	char c = 'x';

	if (errno_of(ioctl(0, TIOCSTI, &c)) != EPERM)
		return 1;
	/* The kernel ignores the upper half. */
	return errno_of(syscall(SYS_ioctl, 0, (5L << 32) | TIOCSTI, &c)) == EPERM ? 0 : 2;
}

static void
forbids_input_for_a_terminal(void **state)
{
	(void)state;
	if (!syscall_filter_is_built())
		skip();
	assert_int_equal(under_filter(types_for_another), 0);
}

static void *
thread_routine(void *arg)
{
	return arg;
}

static int
starts_thread_and_program(void)
{
	char *const args[] = { (char[]){ "true" }, NULL };
	pthread_t t;

	if (errno_of(syscall(SYS_clone3, NULL, 0L)) != ENOSYS)
		return 1;
	if (pthread_create(&t, NULL, thread_routine, NULL) || pthread_join(t, NULL))
		return 2;
	execv("/bin/true", args);
	return 3;
}

static void
allows_threads_and_programs(void **state)
{
	(void)state;
	if (!syscall_filter_is_built())
		skip();
	assert_int_equal(under_filter(starts_thread_and_program), 0);
}

static void
is_left_out_where_calls_are_not_known(void **state)
{
	(void)state;
	if (syscall_filter_is_built())
		skip();
	assert_int_equal(forbidden_calls_install(), -ENOSYS);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
#ifdef TACIT_SECCOMP
		cmocka_unit_test(forbids_each_call_of_the_table),
#endif
		cmocka_unit_test(forbids_namespaces_but_not_processes),
		cmocka_unit_test(forbids_input_for_a_terminal),
		cmocka_unit_test(allows_threads_and_programs),
		cmocka_unit_test(is_left_out_where_calls_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
