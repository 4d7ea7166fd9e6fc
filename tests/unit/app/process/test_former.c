#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/process/former.h"
#include "app/process/socket_pass.h"
#include "base/sys.h"
#include "unit/test.h"

static struct sys sys;
static struct report report;
static struct inherited_sockets sockets;
static struct former former;
static char *text;
static size_t text_len;

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	report.to = open_memstream(&text, &text_len);
	inherited_init(&sockets, &sys);
	former_init(&former, &sys, &report, &sockets);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	former_close(&former);
	inherited_fini(&sockets);
	fclose(report.to);
	free(text);
	return 0;
}

/* Exits with the number of the first of these signals that it gets. */
static pid_t
start_waiting(void)
{
	sigset_t set;
	pid_t pid;
	int sig;

	sigemptyset(&set);
	for (int s = SIGUSR1; s <= SIGTTOU; s++)
		if (s == SIGUSR1 || s == SIGTERM || s == SIGTTOU || s == SIGTTIN)
			sigaddset(&set, s);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	if (pid == 0) {
		alarm(60);
		sigwait(&set, &sig);
		_exit(sig);
	}
	return pid;
}

static int
exit_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
all_are_signalled_once(void **st)
{
	pid_t pids[3] = { start_waiting(), start_waiting(), start_waiting() };

	(void)st;
	/* one has ended already */
	kill(pids[1], SIGTERM);
	assert_int_equal(exit_of(pids[1]), SIGTERM);
	former.pids = pids;
	former.n_pids = 3;
	former.sig = SIGUSR1;
	former_report_ready(&former);
	former_stop(&former);
	assert_int_equal(exit_of(pids[0]), SIGUSR1);
	assert_int_equal(exit_of(pids[2]), SIGUSR1);
	former_stop(&former);
	fflush(report.to);
	assert_string_equal(text, "");
}

static void
by_a_helper(void **st)
{
	pid_t pid = start_waiting();

	(void)st;
	former.pids = &pid;
	former.n_pids = 1;
	former.sig = SIGTERM;
	assert_int_equal(former_keep_privileges(&former), 0);
	former_stop(&former);
	assert_int_equal(exit_of(pid), SIGTERM);
	assert_int_equal(former.helper_fd, -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void
not_if_the_start_fails(void **st)
{
	pid_t pid = start_waiting();

	(void)st;
	former.pids = &pid;
	former.n_pids = 1;
	former.sig = SIGTERM;
	assert_int_equal(former_keep_privileges(&former), 0);
	former_close(&former);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
	kill(pid, SIGUSR1);
	assert_int_equal(exit_of(pid), SIGUSR1);
}

/* Another program stops listening: no process connects, and it continues when the start fails. */
static void
a_process_without_sockets_stops_listening(void **st)
{
	pid_t pid = start_waiting();

	(void)st;
	former.pids = &pid;
	former.n_pids = 1;
	former.sig = SIGTERM;
	former_ask(&former);
	assert_int_equal(exit_of(pid), SIGTTOU);
	pid = start_waiting();
	former_ask(&former);
	former_close(&former);
	assert_int_equal(exit_of(pid), SIGTTIN);
	assert_int_equal(former.ask_fd, -1);
}

/* Passes one socket to the process `to`. */
static void
answer(pid_t to)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, SOCKET_PASS_NAME, (long)to);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), passed = dup(1);
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = (char *)(uintptr_t)"a\n", .iov_len = 2 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	char buf[64];
	ssize_t r;

	memcpy(CMSG_DATA(&control.head), &passed, sizeof(int));
	if (connect(fd, (struct sockaddr *)&un, (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)n)))
		_exit(1);
	if (write(fd, "X_SOCKETS=1\n", 12) != 12 || sendmsg(fd, &msg, 0) != 2)
		_exit(2);
	for (size_t got = 0; got < sizeof(buf) - 1; got += (size_t)r) {
		r = read(fd, buf + got, sizeof(buf) - 1 - got);
		if (r <= 0)
			_exit(3);
		buf[got + (size_t)r] = '\0';
		if (strcmp(buf, "_getsocks\nX_USES=0\nREADY=1\n") == 0)
			_exit(0);
	}
	_exit(4);
}

static void
a_process_passes_its_sockets(void **st)
{
	sigset_t set;
	pid_t pid, to = getpid();
	int sig;

	(void)st;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	if (pid == 0) {
		alarm(60);
		sigwait(&set, &sig);
		answer(to);
	}
	former.pids = &pid;
	former.n_pids = 1;
	/* So many steps of FORMER_STEP_MS, for what hangs. */
	for (int i = 0; i < 6000 && !former.n_fetches; i++)
		former_ask(&former);
	assert_int_equal(sockets.n, 1);
	assert_non_null(inherited_take(&sockets, "a"));
	former_report_ready(&former);
	assert_int_equal(exit_of(pid), 0);
	close(sockets.v[0].fd);
}

static void
a_socket_that_is_not_there(void **st)
{
	(void)st;
	assert_true(former_fetch(&former, "/nowhere/socket") < 0);
	fflush(report.to);
	assert_non_null(strstr(text, "'/nowhere/socket': No such file"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_are_signalled_once, setup, teardown),
		cmocka_unit_test_setup_teardown(by_a_helper, setup, teardown),
		cmocka_unit_test_setup_teardown(not_if_the_start_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_process_without_sockets_stops_listening, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_process_passes_its_sockets, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_socket_that_is_not_there, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
