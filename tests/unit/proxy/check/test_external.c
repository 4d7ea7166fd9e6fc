/* External checks on the checker's side, on a clock of the test. The test is the helper: it reads
 * the requests and answers, between two turns of the loop. */
#define WORLD_BEGINS() (w->proxies.external_checks = 1)
#define WORLD_ENDS() ((void)0)
#include "unit/hand_clock.h"
#include "unit/proxy/proxies_rig.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "proxy/check/checker.h"
#include "proxy/check/external.h"
#include "proxy/check/external_msg.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"

#define TURNS_MAX 2000 /* of 2 ms */

static struct world w;
static struct engine e;
static struct sys_ops ops;
static struct sys sys;
static struct log_sink sink;
static struct checker *checker;
static struct external_helper helper;
static int far_end;        /* the helper's side of the socket */
static char alert[600];    /* the last one */
static unsigned int n_alerts;
static char msg[EXTERNAL_REQUEST_MAX];

static void
on_notice(struct engine *unused_e, int is_alert, const char *text)
{
	(void)unused_e;
	if (!is_alert || strstr(text, "has no server available"))
		return;
	n_alerts++;
	(void)snprintf(alert, sizeof(alert), "%s", text);
}

static int send_error;     /* errno of sendto(); 0: it works */

static long
maybe_sendto(void *ctx, int fd, const void *buf, size_t len, int flags)
{
	return send_error ? -send_error : sys_linux.sendto(ctx, fd, buf, len, flags);
}

/* Advances the clock, and does what is due. */
static void
turn(unsigned int ms)
{
	clock_ms += ms;
	assert_int_equal(loop_turn(e.loop, 0), 0);
}

/* A process that does nothing, as the helper that is killed with its socket. */
static pid_t
fork_idler(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

/* n servers s0, s1 ... */
static void
start(unsigned int n, const char *lines, const char *options)
{
	static const struct log_ident id = { "tacit", NULL, 1, NULL };
	struct loop_config lc = { .poller = poller_find("epoll"), .mode = INTEREST_EDGE,
		.max_fd = 64, .max_events = 8, .lazy = 1 };
	struct checker_config cc = { .node = "n", .max_spread_ms = 20, .helper = &helper };
	static char text[32768];
	size_t len;
	int why, fds[2];

	len = (size_t)snprintf(text, sizeof(text),
		WORLD_DEFAULTS "backend b\n option external-check\n"
			       " external-check command /bin/x\n%s",
		lines);
	for (unsigned int i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			" server s%u 127.0.0.1:%u check inter 20 %s\n", i, i + 1, options);
	world_good(&w, text);
	assert_int_equal(proxies_shard(&w.proxies, 1), 0);
	assert_true(checker_needs_helper(&w.proxies));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	helper = (struct external_helper){ fds[0], fork_idler() };
	far_end = fds[1];
	send_error = 0;
	ops = sys_linux;
	ops.sendto = maybe_sendto;
	ops.clock_gettime = read_clock;
	clock_ms = 1000000;
	sys_init(&sys, &ops, NULL);
	log_sink_init(&sink, &sys, &id);
	assert_int_equal(engine_init(&e, &sys, loop_new(&sys, &lc, &why), 16384, 10), 0);
	e.log = &sink;
	e.hooks.on_notice = on_notice;
	n_alerts = 0;
	alert[0] = '\0';
	assert_int_equal(checker_new(&e, &w.proxies, &cc, &checker), 0);
}

static void
stop(void)
{
	pid_t pid = helper.pid;

	checker_free(&checker);
	external_helper_end(&helper, &sys);
	assert_int_equal(helper.fd, -1);
	if (pid)
		assert_int_equal(kill(pid, 0), -1);
	turn(0);
	assert_int_equal(loop_fds(e.loop), 0);
	engine_fini(&e);
	loop_free(&e.loop);
	log_sink_fini(&sink);
	world_fini(&w);
	close(far_end);
}

/* Turns until there is a request: 1, or 0 after these turns. */
static int
next_request(struct external_request *q, int turns)
{
	for (int i = 0; i < turns; i++) {
		ssize_t r = recv(far_end, msg, sizeof(msg), MSG_DONTWAIT);

		if (r > 0) {
			assert_int_equal(external_msg_read(msg, (size_t)r, q), 0);
			return 1;
		}
		turn(2);
	}
	return 0;
}

static struct external_request
request(enum external_request_kind kind)
{
	struct external_request q;

	assert_true(next_request(&q, TURNS_MAX));
	assert_int_equal(q.kind, kind);
	return q;
}

static void
answer(enum external_answer_kind kind, uint32_t id, int value)
{
	struct external_answer a = { (uint32_t)kind, id, value };

	assert_int_equal(send(far_end, &a, sizeof(a), 0), sizeof(a));
	for (int i = 0; i < 3; i++)
		turn(0);
}

static const struct check *
check_of(int n)
{
	return world_server(world_proxy(&w, "b"), n)->check;
}

static void
expect_result(int n, enum check_status status, int code)
{
	assert_string_equal(check_status_code(check_of(n)->status), check_status_code(status));
	assert_int_equal(check_of(n)->code, code);
	assert_false(check_of(n)->is_running);
}

static void
statuses_of_processes(void **state)
{
	static const struct {
		int wait, code;
		enum check_status status;
	} all[] = {
		{ 0, 0, CHECK_PROCOK },
		{ 1 << 8, 1, CHECK_PROCERR },
		{ 255 << 8, 255, CHECK_PROCERR },
		{ SIGKILL, -1, CHECK_PROCERR },
		{ SIGSEGV | 0x80, -1, CHECK_PROCERR },
	};

	(void)state;
	start(1, "", "");
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct external_request q = request(EXTERNAL_RUN);

		assert_string_equal(q.args[0], "/bin/x");
		assert_string_equal(q.args[4], "1");
		assert_true(check_of(0)->is_running);
		answer(EXTERNAL_ENDED, q.id, all[i].wait);
		expect_result(0, all[i].status, all[i].code);
		assert_string_equal(check_of(0)->info, "");
	}
	stop();
}

/* The process is killed; its later output is not a result of the next check. */
static void
timeout_kills(void **state)
{
	struct external_request q, next, later;

	(void)state;
	start(1, "", "");
	q = request(EXTERNAL_RUN);
	assert_int_equal(request(EXTERNAL_KILL).id, q.id);
	expect_result(0, CHECK_PROCTOUT, 0);
	next = request(EXTERNAL_RUN);
	assert_int_not_equal(next.id, q.id);
	answer(EXTERNAL_ENDED, q.id, SIGKILL);
	assert_true(check_of(0)->is_running);
	answer(EXTERNAL_ENDED, next.id, 0);
	expect_result(0, CHECK_PROCOK, 0);
	/* No job has this id. */
	answer(EXTERNAL_ENDED, 12345, 0);
	later = request(EXTERNAL_RUN);
	answer(EXTERNAL_ENDED, later.id, 1 << 8);
	expect_result(0, CHECK_PROCERR, 1);
	stop();
}

/* Once for each error, not for each check. */
static void
not_executed_is_reported_once(void **state)
{
	struct external_request q;

	(void)state;
	start(1, "", "");
	for (int i = 0; i < 3; i++) {
		q = request(EXTERNAL_RUN);
		answer(EXTERNAL_FAILED, q.id, ENOENT);
		assert_true(check_of(0)->is_running);
		answer(EXTERNAL_ENDED, q.id, EXTERNAL_NOT_EXECUTED << 8);
		expect_result(0, CHECK_PROCERR, 255);
	}
	assert_int_equal(n_alerts, 1);
	assert_string_equal(alert, "External check of server b/s0: cannot execute /bin/x: No such "
				   "file or directory.");
	q = request(EXTERNAL_RUN);
	answer(EXTERNAL_ENDED, q.id, 0);
	q = request(EXTERNAL_RUN);
	answer(EXTERNAL_FAILED, q.id, ENOENT);
	assert_int_equal(n_alerts, 2);
	stop();
}

/* As many commands as are allowed; the others wait, and their time does not run meanwhile. */
static void
too_many_wait(void **state)
{
	static uint32_t ids[EXTERNAL_COMMANDS_MAX];
	struct external_request q;
	unsigned int done = 0;

	(void)state;
	start(EXTERNAL_COMMANDS_MAX + 2, "", "inter 1s");
	for (int i = 0; i < EXTERNAL_COMMANDS_MAX; i++)
		ids[i] = request(EXTERNAL_RUN).id;
	for (int i = 0; i < 20; i++)
		assert_false(next_request(&q, 1));
	answer(EXTERNAL_ENDED, ids[7], 0);
	q = request(EXTERNAL_RUN);
	answer(EXTERNAL_ENDED, q.id, 0);
	q = request(EXTERNAL_RUN);
	answer(EXTERNAL_ENDED, q.id, 0);
	for (int i = 0; i < EXTERNAL_COMMANDS_MAX; i++)
		if (i != 7)
			answer(EXTERNAL_ENDED, ids[i], 0);
	for (int i = 0; i < EXTERNAL_COMMANDS_MAX + 2; i++)
		done += check_of(i)->status == CHECK_PROCOK;
	assert_int_equal(done, EXTERNAL_COMMANDS_MAX + 2);
	stop();
}

/* A command that was killed has its place until it has ended. */
static void
killed_commands_count(void **state)
{
	struct external_request q;
	unsigned int runs = 0, kills = 0, waits = 0;
	uint32_t first = 0;

	(void)state;
	start(EXTERNAL_COMMANDS_MAX + 1, "", "");
	for (int i = 0; i < 2 * EXTERNAL_COMMANDS_MAX; i++) {
		assert_true(next_request(&q, TURNS_MAX));
		if (q.kind == EXTERNAL_RUN && !runs++)
			first = q.id;
		kills += q.kind == EXTERNAL_KILL;
	}
	assert_int_equal(runs, EXTERNAL_COMMANDS_MAX);
	assert_int_equal(kills, EXTERNAL_COMMANDS_MAX);
	assert_false(next_request(&q, 60));
	/* The one that waits has no deadline. */
	for (int i = 0; i <= EXTERNAL_COMMANDS_MAX; i++)
		waits += check_of(i)->is_running && check_of(i)->status == CHECK_INI;
	assert_int_equal(waits, 1);
	answer(EXTERNAL_ENDED, first, SIGKILL);
	assert_int_equal(request(EXTERNAL_RUN).kind, EXTERNAL_RUN);
	stop();
}

/* A dead helper is reaped, and not started again. */
static void
helper_that_dies(void **state)
{
	pid_t pid;

	(void)state;
	start(2, "", "");
	pid = helper.pid;
	(void)request(EXTERNAL_RUN);
	shutdown(far_end, SHUT_RDWR);
	for (int i = 0; i < TURNS_MAX && check_of(0)->status != CHECK_PROCERR; i++)
		turn(2);
	expect_result(0, CHECK_PROCERR, -1);
	assert_string_equal(check_of(0)->info, "the helper process has ended");
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(helper.fd, -1);
	/* The other one, and those to come. */
	for (int i = 0; i < 60; i++)
		turn(2);
	expect_result(1, CHECK_PROCERR, -1);
	assert_int_equal(n_alerts, 1);
	assert_non_null(strstr(alert, "The helper process of external checks has ended"));
	stop();
}

/* Bytes that are no answer end the helper, too. */
static void
garbage_ends_the_helper(void **state)
{
	(void)state;
	start(1, "", "");
	(void)request(EXTERNAL_RUN);
	assert_int_equal(send(far_end, "abc", 3, 0), 3);
	for (int i = 0; i < 3; i++)
		turn(0);
	expect_result(0, CHECK_PROCERR, -1);
	assert_int_equal(n_alerts, 1);
	stop();
}

/* The check fails, the helper stays. A kill is sent later. */
static void
no_memory_for_a_request(void **state)
{
	struct external_request q;
	uint32_t first;

	(void)state;
	start(1, "", "");
	first = request(EXTERNAL_RUN).id;
	send_error = ENOBUFS;
	assert_false(next_request(&q, 60));
	expect_result(0, CHECK_PROCERR, EXTERNAL_NOT_EXECUTED);
	assert_int_equal(n_alerts, 1);
	assert_non_null(strstr(alert, "No buffer space available"));
	send_error = 0;
	q = request(EXTERNAL_KILL);
	assert_int_equal(q.id, first);
	q = request(EXTERNAL_RUN);
	answer(EXTERNAL_ENDED, q.id, 0);
	expect_result(0, CHECK_PROCOK, 0);
	stop();
}

/* The helper does not read: requests wait for room in the socket, and none is lost. */
static void
full_socket(void **state)
{
	struct external_request q;
	int small = 1, seen[20] = { 0 };

	(void)state;
	start(20, "", "inter 5s");
	assert_int_equal(setsockopt(helper.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	for (int i = 0; i < 50; i++)
		turn(2);
	for (int i = 0; i < 20; i++) {
		q = request(EXTERNAL_RUN);
		seen[atoi(q.args[4]) - 1]++;
	}
	for (int i = 0; i < 20; i++)
		assert_int_equal(seen[i], 1);
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_of_processes),
		cmocka_unit_test(timeout_kills),
		cmocka_unit_test(not_executed_is_reported_once),
		cmocka_unit_test(too_many_wait),
		cmocka_unit_test(killed_commands_count),
		cmocka_unit_test(helper_that_dies),
		cmocka_unit_test(garbage_ends_the_helper),
		cmocka_unit_test(no_memory_for_a_request),
		cmocka_unit_test(full_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
