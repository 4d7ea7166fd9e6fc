/* The helper of external checks with the real kernel: the test is the checker. */
#include "app/process/check_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/process/signals.h"
#include "base/sys.h"
#include "proxy/check/external_msg.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

#define WAIT_MS 60000

static struct sys sys;
static struct external_helper helper;

static int
setup(void **state)
{
	struct global_conf g;
	struct check_helper_conf conf = { .global = &g, .soft_fds = 64, .background = 1 };

	global_init(&g);
	sys_init(&sys, &sys_linux, NULL);
	helper.fd = -1;
	/* As the daemon does before: the helper does not end by signals for all of its group. */
	if (signals_block(&sys))
		return -1;
	return files_open(state) || check_helper_start(&sys, &conf, &helper);
}

static int
teardown(void **state)
{
	external_helper_end(&helper, &sys);
	return files_close(state);
}

static void
send_msg(struct sbuf *out)
{
	assert_false(out->failed);
	assert_int_equal(send(helper.fd, out->p, out->len, MSG_NOSIGNAL), out->len);
}

/* A shell command, or a file if args has no blank; env may be NULL. */
static void
run(uint32_t id, const char *command, const char *arg, const char *env)
{
	static char msg[EXTERNAL_REQUEST_MAX];
	struct sbuf out;

	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_msg_begin(&out, EXTERNAL_RUN, id, arg ? 3 : 1, env ? 1 : 0);
	external_msg_add(&out, "%s", command);
	if (arg) {
		external_msg_add(&out, "-c");
		external_msg_add(&out, "%s", arg);
	}
	if (env)
		external_msg_add(&out, "%s", env);
	send_msg(&out);
}

static void
shell(uint32_t id, const char *script)
{
	run(id, "/bin/sh", script, "PATH=/usr/bin:/bin");
}

static void
grep_status(uint32_t id, const char *pattern)
{
	char msg[256];
	struct sbuf out;

	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_msg_begin(&out, EXTERNAL_RUN, id, 4, 0);
	external_msg_add(&out, "/bin/grep");
	external_msg_add(&out, "-q");
	external_msg_add(&out, "%s", pattern);
	external_msg_add(&out, "/proc/self/status");
	send_msg(&out);
}

static void
kill_it(uint32_t id)
{
	char msg[64];
	struct sbuf out;

	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_msg_begin(&out, EXTERNAL_KILL, id, 0, 0);
	send_msg(&out);
}

static struct external_answer
next_answer(void)
{
	struct pollfd p = { .fd = helper.fd, .events = POLLIN };
	struct external_answer a;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(recv(helper.fd, &a, sizeof(a), 0), sizeof(a));
	return a;
}

static void
expect(enum external_answer_kind kind, uint32_t id, int value)
{
	struct external_answer a = next_answer();

	assert_int_equal(a.kind, kind);
	assert_int_equal(a.id, id);
	assert_int_equal(a.value, value);
}

static void
exit_statuses(void **state)
{
	(void)state;
	shell(1, "exit 0");
	expect(EXTERNAL_ENDED, 1, 0);
	shell(2, "exit 3");
	expect(EXTERNAL_ENDED, 2, 3 << 8);
	shell(3, "kill -9 $$");
	expect(EXTERNAL_ENDED, 3, SIGKILL);
}

static void
several_at_once(void **state)
{
	const char *gate = files_path("gate");
	char script[200];
	int fd;

	(void)state;
	assert_int_equal(mkfifo(gate, 0600), 0);
	(void)snprintf(script, sizeof(script), ": <%s", gate);
	shell(1, "exec sleep 600");
	shell(2, script);
	shell(3, "exit 4");
	expect(EXTERNAL_ENDED, 3, 4 << 8);
	/* The second command waits until the gate is opened for writing. */
	fd = open(gate, O_WRONLY);
	assert_true(fd >= 0);
	close(fd);
	expect(EXTERNAL_ENDED, 2, 0);
	kill_it(9);
	kill_it(1);
	expect(EXTERNAL_ENDED, 1, SIGKILL);
	/* The command has ended: no process is killed. */
	kill_it(1);
	shell(1, "exit 5");
	expect(EXTERNAL_ENDED, 1, 5 << 8);
}

static void
not_executed(void **state)
{
	const char *file = files_write("data", "#!/bin/sh\nexit 0\n");

	(void)state;
	run(1, "/nonexistent/x", NULL, NULL);
	expect(EXTERNAL_FAILED, 1, ENOENT);
	expect(EXTERNAL_ENDED, 1, EXTERNAL_NOT_EXECUTED << 8);
	run(2, file, NULL, NULL);
	expect(EXTERNAL_FAILED, 2, EACCES);
	expect(EXTERNAL_ENDED, 2, EXTERNAL_NOT_EXECUTED << 8);
	/* Without a slash, $PATH is all there is. */
	run(3, "true", NULL, "PATH=");
	expect(EXTERNAL_FAILED, 3, ENOENT);
	expect(EXTERNAL_ENDED, 3, EXTERNAL_NOT_EXECUTED << 8);
	run(4, "true", NULL, NULL);
	expect(EXTERNAL_FAILED, 4, ENOENT);
	expect(EXTERNAL_ENDED, 4, EXTERNAL_NOT_EXECUTED << 8);
}

/* As execvp(3): the first that can be executed, and a file without "#!" is a script. */
static void
found_in_path(void **state)
{
	const char *file = files_write("probe", "exit 6\n");
	char env[600], dir[400];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", file);
	*strrchr(dir, '/') = '\0';
	run(1, "true", NULL, "PATH=/nonexistent:/usr/bin:/bin");
	expect(EXTERNAL_ENDED, 1, 0);
	(void)snprintf(env, sizeof(env), "PATH=/usr/bin:%s:/bin", dir);
	run(2, "probe", NULL, env);
	expect(EXTERNAL_FAILED, 2, EACCES);
	expect(EXTERNAL_ENDED, 2, EXTERNAL_NOT_EXECUTED << 8);
	assert_int_equal(chmod(file, 0755), 0);
	run(3, "probe", NULL, env);
	expect(EXTERNAL_ENDED, 3, 6 << 8);
	run(4, file, NULL, NULL);
	expect(EXTERNAL_ENDED, 4, 6 << 8);
}

/* The helper inherits nothing of the daemon: no descriptor, no signal that is ignored or blocked,
 * not its limit. */
static void
clean_process(void **state)
{
	(void)state;
	shell(1, "for i in 3 4 5 6 7 8 9 10 11 12; do test ! -e /proc/$$/fd/$i || exit 1; done");
	expect(EXTERNAL_ENDED, 1, 0);
	/* Not by a shell, which resets them itself. */
	grep_status(2, "SigBlk:.0000000000000000");
	expect(EXTERNAL_ENDED, 2, 0);
	/* 32 and 33 are the C library's, which leaves them as they are: make(1) ignores them. */
	grep_status(2, "SigIgn:.0000000[01][08]0000000");
	expect(EXTERNAL_ENDED, 2, 0);
	shell(3, "test $(ulimit -n) = 64 && test $(readlink /proc/$$/fd/1) = /dev/null");
	expect(EXTERNAL_ENDED, 3, 0);
	shell(4, "test $(env | wc -l) = 2 && test $PATH = /usr/bin:/bin");
	expect(EXTERNAL_ENDED, 4, 0);
	shell(5, "head -c 5000000 /dev/zero");
	expect(EXTERNAL_ENDED, 5, 0);
}

/* More than there are places: refused, and reported. */
static void
bounded(void **state)
{
	struct external_answer a;

	(void)state;
	for (uint32_t i = 0; i < EXTERNAL_COMMANDS_MAX; i++)
		shell(i, "exec sleep 600");
	shell(1000, "exit 0");
	expect(EXTERNAL_FAILED, 1000, EAGAIN);
	expect(EXTERNAL_ENDED, 1000, EXTERNAL_NOT_EXECUTED << 8);
	for (uint32_t i = 0; i < EXTERNAL_COMMANDS_MAX; i++)
		kill_it(i);
	for (uint32_t i = 0; i < EXTERNAL_COMMANDS_MAX; i++) {
		a = next_answer();
		assert_int_equal(a.kind, EXTERNAL_ENDED);
		assert_int_equal(a.value, SIGKILL);
	}
	shell(1001, "exit 0");
	expect(EXTERNAL_ENDED, 1001, 0);
}

/* Starts a command that holds the other end of the pipe: it is at its end when the command is
 * dead. */
static int
start_holder(const char *file)
{
	char script[600];
	int fd;

	assert_int_equal(mkfifo(file, 0600), 0);
	(void)snprintf(script, sizeof(script), "exec sleep 600 >%s", file);
	shell(1, script);
	fd = open(file, O_RDONLY);
	assert_true(fd >= 0);
	return fd;
}

static void
expect_eof(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(read(fd, &c, 1), 0);
	close(fd);
}

/* Commands end with the helper, and the helper with its socket. */
static void
ends_with_its_socket(void **state)
{
	char file[400];
	int fd, status;

	(void)state;
	(void)snprintf(file, sizeof(file), "%s.fifo", files_write("a", ""));
	fd = start_holder(file);
	assert_int_equal(kill(helper.pid, SIGTERM), 0);
	close(helper.fd);
	helper.fd = -1;
	expect_eof(fd);
	assert_int_equal(waitpid(helper.pid, &status, 0), helper.pid);
	helper.pid = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
commands_die_with_a_killed_helper(void **state)
{
	char file[400];
	int fd;

	(void)state;
	(void)snprintf(file, sizeof(file), "%s.fifo", files_write("b", ""));
	fd = start_holder(file);
	external_helper_end(&helper, &sys);
	assert_int_equal(helper.pid, 0);
	expect_eof(fd);
}

static void
garbage_ends_it(void **state)
{
	char c;

	(void)state;
	assert_int_equal(send(helper.fd, "x", 1, 0), 1);
	assert_int_equal(recv(helper.fd, &c, 1, 0), 0);
}

static long
no_fork(void *ctx)
{
	(void)ctx;
	return -EAGAIN;
}

static void
cannot_fork(void **state)
{
	struct sys_ops ops = sys_linux;
	struct global_conf g;
	struct check_helper_conf conf = { .global = &g };
	struct external_helper h = { -1, 0 };
	struct sys s;
	int before = dup(0), after;

	(void)state;
	close(before);
	global_init(&g);
	ops.clone = no_fork;
	sys_init(&s, &ops, NULL);
	assert_int_equal(check_helper_start(&s, &conf, &h), -EAGAIN);
	assert_int_equal(h.fd, -1);
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exit_statuses),
		TEST(several_at_once),
		TEST(not_executed),
		TEST(found_in_path),
		TEST(clean_process),
		TEST(bounded),
		TEST(ends_with_its_socket),
		TEST(commands_die_with_a_killed_helper),
		TEST(garbage_ends_it),
		TEST(cannot_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
