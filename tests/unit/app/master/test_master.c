#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/master/master.h"
#include "app/process/master_link.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "app/master/master_reload.c"

static struct sys sys;
static struct report report;
static struct former none_before = { .helper_fd = -1 };
static struct daemon daemon_none = { .report_fd = -1, .null_fd = -1 };

/* A master whose first worker process is `first` and whose later ones are a shell with a script;
 * its exit code. In a process of its own: it collects all children. */
static int
run_with(void (*first)(struct master_link *link), const char *script)
{
	static const char *const env[] = { "LISTEN_PID=1", "TACIT_MASTER=1", NULL };
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)(uintptr_t)script, NULL };
	struct master m = { .sys = &sys, .report = &report, .daemon = &daemon_none,
		.former = &none_before };
	struct master_link link;
	int status = 0, r;
	pid_t pid = fork();

	if (pid == 0) {
		sys_init(&sys, &sys_linux, NULL);
		report.to = fopen("/dev/null", "w");
		master_link_init(&link, &sys);
		m.spawn.argv = argv;
		m.spawn.environment = env;
		r = master_start(&m, NULL, &link.fd, &link.stderr_fd);
		if (r == 0) {
			first(&link);
			_exit(99);
		}
		if (r < 0)
			_exit(98);
		r = master_run(&m);
		fclose(report.to);
		_exit(r);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
say(struct master_link *link, const char *text)
{
	if (send(link->fd, text, strlen(text), 0) < 0)
		_exit(97);
}

static void
fails_to_start(struct master_link *link)
{
	(void)link;
	_exit(3);
}

static void
dies_later(struct master_link *link)
{
	say(link, "X_EXIT_ON_FAILURE=1\nX_MAX_RELOADS=3");
	say(link, "READY=1\nSTATUS=Serving");
	_exit(7);
}

static void
is_killed(struct master_link *link)
{
	say(link, "X_EXIT_ON_FAILURE=1\nX_MAX_RELOADS=3");
	say(link, "READY=1");
	raise(SIGKILL);
}

static void
the_first_one_decides(void **st)
{
	(void)st;
	assert_int_equal(run_with(fails_to_start, "exit 0"), 3);
	assert_int_equal(run_with(dies_later, "exit 0"), 7);
	assert_int_equal(run_with(is_killed, "exit 0"), 128 + SIGKILL);
}

/* A worker that is replaced until one stays, which asks its master to stop. */
static void
needs_another(struct master_link *link)
{
	say(link, "READY=1");
	_exit(7);
}

static void
a_dead_worker_is_replaced(void **st)
{
	char path[] = "/tmp/test_master-XXXXXX", script[300];
	int fd = mkstemp(path);

	(void)st;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(run_with(needs_another,
		"test \"$LISTEN_PID\" = $$ -a \"$TACIT_MASTER\" != 1 && kill -INT $PPID"), 130);
	/* the first attempts fail; the lines of a file count them */
	snprintf(script, sizeof(script),
		"echo x >> %s; test $(wc -l < %s) -lt 4 && exit 1; kill -TERM $PPID", path, path);
	assert_int_equal(run_with(needs_another, script), 0);
	assert_int_equal(unlink(path), 0);
}

/* The script asks for a reload, and sees the socket that the first one bound. */
static void
passes_a_socket(struct master_link *link)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	sigset_t none;

	if (master_link_keep(link, "127.0.0.1:1", fd, 1))
		_exit(96);
	say(link, "READY=1");
	kill(getppid(), SIGHUP);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	pause();
	_exit(95);
}

static void
sockets_are_inherited(void **st)
{
	(void)st;
	assert_int_equal(run_with(passes_a_socket,
		"IFS=,; set -- $TACIT_MASTER; IFS=' '; read fd key < /proc/self/fd/$2;"
			"test \"$key\" = 127.0.0.1:1 -a -S /proc/self/fd/$fd && kill -INT $PPID;"
			"exec sleep 60"),
		130);
}

/* A master that continues with this state and a child that exits with 7; its exit code. */
static int
resume_with(const char *format, const char *number)
{
	struct master m = { .sys = &sys, .report = &report };
	char *argv[] = { (char *)"/bin/true", NULL };
	char state[256], fd[32];
	int link[2], status = 0, file, kept = dup(0);
	pid_t pid = fork(), child;

	if (pid == 0) {
		sys_init(&sys, &sys_linux, NULL);
		report.to = fopen("/dev/null", "w");
		m.spawn.argv = argv;
		file = memfd_create("state", MFD_CLOEXEC);
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, link) || file < 0)
			_exit(98);
		/* The child ends before anything watches it. */
		child = fork();
		if (child == 0)
			_exit(7);
		(void)waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
		snprintf(state, sizeof(state), format, (int)child, link[0], kept);
		if (write(file, state, strlen(state)) < 0)
			_exit(97);
		snprintf(fd, sizeof(fd), number, file);
		if (master_resume(&m, NULL, fd))
			_exit(96);
		/* Later programs do not get it. */
		if (fcntl(kept, F_GETFD) != FD_CLOEXEC || fcntl(file, F_GETFD) >= 0)
			_exit(95);
		_exit(master_run(&m));
	}
	close(kept);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
another_program_continues_as_the_master(void **st)
{
	(void)st;
	assert_int_equal(resume_with("version 1\nmaster 0 1 9\nworker %d %d 1 0 0 \n"
		"file %d 0\nlog\n", "%d"), 7);
	assert_int_equal(resume_with("version 2\nlog\n", "%d"), 96);
	assert_int_equal(resume_with("version 1\nlog\n", "%d,"), 96);
	assert_int_equal(resume_with("version 1\nlog\n", "x%d"), 96);
}

static void
later_attempts_wait_longer(void **st)
{
	(void)st;
	assert_int_equal(master_respawn_delay(0), 0);
	assert_int_equal(master_respawn_delay(1), MASTER_DELAY_MS);
	assert_int_equal(master_respawn_delay(2), 2 * MASTER_DELAY_MS);
	assert_int_equal(master_respawn_delay(1000000), MASTER_DELAY_MAX_MS);
}

static void
the_first_alert_is_the_reason(void **st)
{
	char text[32];

	(void)st;
	master_first_alert("[WARNING]  (7) : hm\n[ALERT]    (7) : config : bad.\n  bad\n"
		"[ALERT]    (7) : fatal\n", text, sizeof(text));
	assert_string_equal(text, "config : bad");
	master_first_alert("[WARNING]  (7) : hm\n", text, sizeof(text));
	assert_string_equal(text, "");
	master_first_alert("[ALERT] cut", text, sizeof(text));
	assert_string_equal(text, "");
	master_first_alert(
		"[ALERT] (1) : 0123456789012345678901234567890123456789", text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

/* A worker process may send as much as it likes: the master's other work waits for a part of it
 * only, and nothing is lost. */
static void
a_flood_is_read_in_parts(void **st)
{
	struct loop_config conf = { .poller = poller_find("ev:epoll"), .mode = INTEREST_MERGED,
		.max_fd = 1024, .max_events = 8, .lazy = 1 };
	struct master m = { .sys = &sys, .report = &report, .notify.fd = -1,
		.state = MASTER_RUNNING };
	struct spawned own = { .pid = 1, .log_fd = -1 };
	const int all = 2 * MASTER_MESSAGES_MAX + 3;
	struct worker_process *w;
	int ends[2], reason, before = 0, seen = 0;

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	list_init(&m.workers);
	m.loop = loop_new(&sys, &conf, &reason);
	assert_non_null(m.loop);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (int i = 1; i <= all; i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "X_VERSION=%d", i);

		assert_int_equal(send(ends[1], text, (size_t)n, MSG_DONTWAIT), n);
	}
	own.fd = ends[0];
	w = master_add_worker(&m, &own);
	assert_non_null(w);
	while (seen < all) {
		assert_int_equal(loop_turn(m.loop, 1000), 0);
		seen = (int)strtol(w->version, NULL, 10);
		assert_int_equal(seen, MIN(before + MASTER_MESSAGES_MAX, all));
		before = seen;
	}
	/* The end is seen, too. */
	close(ends[1]);
	assert_int_equal(loop_turn(m.loop, 1000), 0);
	assert_int_equal(w->own.fd, -1);
	master_drop_worker(w);
	loop_free(&m.loop);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_one_decides),
		cmocka_unit_test(a_dead_worker_is_replaced),
		cmocka_unit_test(sockets_are_inherited),
		cmocka_unit_test(another_program_continues_as_the_master),
		cmocka_unit_test(later_attempts_wait_longer),
		cmocka_unit_test(the_first_alert_is_the_reason),
		cmocka_unit_test(a_flood_is_read_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
