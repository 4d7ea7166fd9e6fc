#include "base/log.c"
#include "unit/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
	struct sys sys;
	struct log_sink sink;
	struct log_line line;
	struct list lines;
	uint64_t now;
};

static uint64_t
fixed_clock(void *arg)
{
	return *(uint64_t *)arg;
}

static void
world_init(struct world *w)
{
	const struct log_ident id = { "tacit", NULL, 1, NULL };

	memset(w, 0, sizeof(*w));
	w->now = UINT64_C(1795218117000000000);
	sys_init(&w->sys, &sys_linux, NULL);
	log_sink_init(&w->sink, &w->sys, &id);
	w->sink.wall_ns = fixed_clock;
	w->sink.wall_arg = &w->now;
	log_line_init(&w->line);
	w->line.form = LOG_FORM_RAW;
	list_init(&w->lines);
	list_append(&w->lines, &w->line.link);
}

static void
to_fd(struct world *w, int fd)
{
	w->line.dest.kind = LOG_DEST_FD;
	w->line.dest.fd = fd;
}

static void
say(struct world *w, const char *text)
{
	log_send(&w->sink, &w->lines, LOG_LEVEL_INFO, NULL, text, strlen(text));
}

static uint64_t
calls(struct world *w, enum sys_call c)
{
	return ledger_sum(&w->sys.ledger, c);
}

static int
udp_server(struct log_dest *d)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(d, 0, sizeof(*d));
	d->kind = LOG_DEST_SOCKET;
	d->len = sizeof(d->u.in);
	d->u.in.sin_family = AF_INET;
	d->u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, &d->u.sa, d->len), 0);
	assert_int_equal(getsockname(fd, &d->u.sa, &d->len), 0);
	return fd;
}

static int
unix_server(struct log_dest *d, const char *path)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	memset(d, 0, sizeof(*d));
	d->kind = LOG_DEST_SOCKET;
	d->u.un.sun_family = AF_UNIX;
	snprintf(d->u.un.sun_path, sizeof(d->u.un.sun_path), "%s", path);
	d->len = sizeof(d->u.un);
	assert_int_equal(bind(fd, &d->u.sa, d->len), 0);
	return fd;
}

static const char *
received(int fd)
{
	static char buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static void
test_a_turn_is_one_call(void **state)
{
	struct world w;
	char want[32];
	int fd;

	(void)state;
	world_init(&w);
	fd = udp_server(&w.line.dest);
	for (int i = 0; i < 20; i++) {
		snprintf(want, sizeof(want), "m%d", i);
		say(&w, want);
	}
	assert_int_equal(calls(&w, SYS_CALL_sendmmsg), 0);
	log_flush(&w.sink);
	log_flush(&w.sink);
	assert_int_equal(calls(&w, SYS_CALL_sendmmsg), 1);
	assert_int_equal(calls(&w, SYS_CALL_socket), 1);
	for (int i = 0; i < 20; i++) {
		snprintf(want, sizeof(want), "m%d\n", i);
		assert_string_equal(received(fd), want);
	}
	assert_int_equal(w.sink.sent, 20);
	log_sink_fini(&w.sink);
	close(fd);
}

struct failures {
	unsigned int n;
	int err;
	const struct log_dest *dest;
};

static void
note_failure(void *arg, const struct log_dest *dest, int err)
{
	struct failures *f = arg;

	f->n++;
	f->err = err;
	f->dest = dest;
}

/* A target that is not reachable is reported each time it is given up. */
static void
test_an_unreachable_target_is_reported(void **state)
{
	struct failures f = { 0 };
	struct world w;

	(void)state;
	world_init(&w);
	w.sink.on_failure = note_failure;
	w.sink.failure_arg = &f;
	w.line.dest.kind = LOG_DEST_SOCKET;
	w.line.dest.u.un.sun_family = AF_UNIX;
	snprintf(w.line.dest.u.un.sun_path, sizeof(w.line.dest.u.un.sun_path), "/nowhere/at/all");
	w.line.dest.len = sizeof(w.line.dest.u.un);
	say(&w, "a");
	log_flush(&w.sink);
	say(&w, "b");
	log_flush(&w.sink);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err, ENOENT);
	assert_string_equal(f.dest->u.un.sun_path, "/nowhere/at/all");
	assert_int_equal(w.sink.dropped, 2);
	w.now += LOG_REST_MS * UINT64_C(1000000) + 1;
	say(&w, "c");
	log_flush(&w.sink);
	assert_int_equal(f.n, 2);
	log_sink_fini(&w.sink);
	world_init(&w);
	w.sink.on_failure = note_failure;
	w.sink.failure_arg = &f;
	to_fd(&w, 900);
	say(&w, "a");
	log_flush(&w.sink);
	assert_int_equal(f.n, 3);
	assert_int_equal(f.err, EBADF);
	log_sink_fini(&w.sink);
}

/* The daemon that reads our unix socket may stop, and start again as another process. */
static void
test_a_unix_server_restarts(void **state)
{
	char dir[] = "/tmp/test_log.XXXXXX", path[64];
	struct world w;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	world_init(&w);
	fd = unix_server(&w.line.dest, path);
	say(&w, "one");
	log_flush(&w.sink);
	assert_string_equal(received(fd), "one\n");
	close(fd); /* the file stays: connection refused */
	say(&w, "lost");
	log_flush(&w.sink);
	assert_int_equal(w.sink.dropped, 1);
	/* During the pause after a failure no call is made. */
	uint64_t before = calls(&w, SYS_CALL_sendmmsg);
	for (int i = 0; i < 50; i++) {
		say(&w, "lost too");
		log_flush(&w.sink);
	}
	assert_int_equal(calls(&w, SYS_CALL_sendmmsg), before);
	assert_int_equal(w.sink.dropped, 51);
	unlink(path);
	fd = unix_server(&w.line.dest, path);
	w.now += (LOG_REST_MS + 1) * UINT64_C(1000000);
	say(&w, "two");
	log_flush(&w.sink);
	assert_string_equal(received(fd), "two\n");
	assert_int_equal(w.sink.sent, 2);
	assert_int_equal(w.sink.n_targets, 1);
	log_sink_fini(&w.sink);
	close(fd);
	unlink(path);
	rmdir(dir);
}

static void
test_a_clock_set_back_does_not_silence(void **state)
{
	struct log_target t = { .rest_until_ns = UINT64_C(9000000000) };

	(void)state;
	assert_false(log_target_is_resting(&t, UINT64_C(1000000000)));
	t.rest_until_ns = UINT64_C(1000000000) + LOG_REST_MS * 1000000u;
	assert_true(log_target_is_resting(&t, UINT64_C(1000000000)));
	assert_false(log_target_is_resting(&t, UINT64_C(1000000000) + LOG_REST_MS * 1000000u));
}

/* The socket is full: the rest of the burst is dropped and counted, and no call blocks. */
static void
test_a_full_socket_drops_messages(void **state)
{
	char dir[] = "/tmp/test_log.XXXXXX", path[64];
	struct world w;
	int fd, n = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	world_init(&w);
	fd = unix_server(&w.line.dest, path);
	for (int i = 0; i < 5000; i++)
		say(&w, "burst");
	log_flush(&w.sink);
	assert_true(w.sink.dropped > 0);
	assert_int_equal(w.sink.sent + w.sink.dropped, 5000);
	while (*received(fd))
		n++;
	assert_int_equal(n, w.sink.sent);
	say(&w, "again");
	log_flush(&w.sink);
	assert_string_equal(received(fd), "again\n");
	log_sink_fini(&w.sink);
	close(fd);
	unlink(path);
	rmdir(dir);
}

static size_t
drain(int fd, char *buf, size_t len)
{
	ssize_t n = read(fd, buf, len);

	return n > 0 ? (size_t)n : 0;
}

/* The pipe fills in the middle of a line that it does not take as a whole: the rest of that line is
 * written first when there is room. */
static void
test_a_half_written_line_is_completed(void **state)
{
	static char text[PIPE_BUF + 1001], in[1 << 20];
	size_t len = 0, lines = 0;
	struct world w;
	int fds[2];

	(void)state;
	world_init(&w);
	assert_int_equal(pipe2(fds, 0), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	to_fd(&w, fds[1]);
	w.line.max_len = sizeof(text);
	memset(text, 'l', sizeof(text) - 1);
	for (int i = 0; i < 60; i++)
		say(&w, text);
	log_flush(&w.sink);
	assert_true(w.sink.target[0].tail_len > 0);
	len += drain(fds[0], in, sizeof(in));
	say(&w, text);
	log_flush(&w.sink);
	len += drain(fds[0], in + len, sizeof(in) - len);
	assert_int_equal(w.sink.target[0].tail_len, 0);
	assert_int_equal(len % sizeof(text), 0);
	for (size_t i = 0; i < len; i++) {
		int last = i % sizeof(text) == sizeof(text) - 1;

		assert_int_equal(in[i], last ? '\n' : 'l');
		lines += (size_t)last;
	}
	assert_int_equal(lines, w.sink.sent);
	assert_int_equal(w.sink.sent + w.sink.dropped, 61);
	log_sink_fini(&w.sink);
	close(fds[0]);
	close(fds[1]);
}

static void
test_flags_of_a_terminal_are_restored(void **state)
{
	struct world w;
	int master = posix_openpt(O_RDWR | O_NOCTTY), fd;

	(void)state;
	world_init(&w);
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	fd = open(ptsname(master), O_WRONLY | O_NOCTTY);
	assert_true(fd >= 0);
	to_fd(&w, fd);
	say(&w, "x");
	log_flush(&w.sink);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	log_sink_fini(&w.sink);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	close(master);
}

/* After a reload the next process writes to the same pipe, while the previous one ends. */
static void
test_a_sink_that_ends_leaves_a_pipe_to_others(void **state)
{
	struct world before, w;
	int fds[2];

	(void)state;
	world_init(&before);
	world_init(&w);
	assert_int_equal(pipe(fds), 0);
	to_fd(&before, fds[1]);
	say(&before, "x");
	log_flush(&before.sink);
	to_fd(&w, fds[1]);
	say(&w, "x");
	log_flush(&w.sink);
	log_sink_fini(&before.sink);
	assert_true(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
	log_sink_fini(&w.sink);
	assert_true(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
	close(fds[0]);
	close(fds[1]);
}

static void
test_a_stream_socket_gets_lines(void **state)
{
	struct world w;
	int sv[2];

	(void)state;
	world_init(&w);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	to_fd(&w, sv[0]);
	say(&w, "one");
	say(&w, "two");
	log_flush(&w.sink);
	assert_string_equal(received(sv[1]), "one\ntwo\n");
	/* The reader is gone: there is no SIGPIPE. */
	close(sv[1]);
	say(&w, "three");
	log_flush(&w.sink);
	assert_int_equal(w.sink.dropped, 1);
	log_sink_fini(&w.sink);
	close(sv[0]);
}

static void
test_a_closed_fd_is_a_dead_target(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	to_fd(&w, 1000000);
	say(&w, "x");
	log_flush(&w.sink);
	assert_int_equal(w.sink.dropped, 1);
	log_sink_fini(&w.sink);
}

static void
test_a_message_too_big_does_not_affect_others(void **state)
{
	static char text[LOG_LEN_MAX];
	struct world w;
	int fd;

	(void)state;
	world_init(&w);
	fd = udp_server(&w.line.dest);
	w.line.max_len = LOG_LEN_MAX;
	memset(text, 'b', sizeof(text) - 1);
	say(&w, "before");
	say(&w, text); /* more than the maximum of 65507 bytes of payload */
	say(&w, "after");
	log_flush(&w.sink);
	assert_string_equal(received(fd), "before\n");
	assert_string_equal(received(fd), "after\n");
	assert_int_equal(w.sink.sent, 2);
	assert_int_equal(w.sink.dropped, 1);
	log_sink_fini(&w.sink);
	close(fd);
}

static void
test_targets_are_bounded(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	for (int i = 0; i < LOG_TARGETS_MAX; i++) {
		to_fd(&w, 100000 + i);
		assert_non_null(log_target_get(&w.sink, &w.line.dest));
		assert_non_null(log_target_get(&w.sink, &w.line.dest));
	}
	assert_int_equal(w.sink.n_targets, LOG_TARGETS_MAX);
	to_fd(&w, 5);
	assert_null(log_target_get(&w.sink, &w.line.dest));
	say(&w, "x");
	assert_int_equal(w.sink.dropped, 1);
	log_sink_fini(&w.sink);
}

/* Another worker or process may write in between: each piece is one that a pipe, or a stream
 * socket, takes as a whole. A file takes any. */
static void
pipes_get_whole_lines(void **state)
{
	static char text[1000], got[70000];
	enum { PIPE, SOCKET, IN_A_FILE, KINDS };
	FILE *file = tmpfile();
	struct world w;
	size_t len = 0;
	int p[2];

	(void)state;
	assert_non_null(file);
	memset(text, 'x', sizeof(text) - 1);
	for (int kind = 0; kind < KINDS; kind++) {
		world_init(&w);
		assert_int_equal(kind == SOCKET ? socketpair(AF_UNIX, SOCK_STREAM, 0, p) : pipe(p),
			0);
		if (kind == IN_A_FILE) {
			close(p[0]);
			close(p[1]);
			p[0] = dup(fileno(file));
			p[1] = dup(p[0]);
		}
		to_fd(&w, p[1]);
		for (int i = 0; i < 20; i++)
			say(&w, text);
		log_flush(&w.sink);
		/* 1,000 bytes each: four to a piece of 4,096 */
		assert_int_equal(calls(&w, SYS_CALL_writev) + calls(&w, SYS_CALL_sendmsg),
			kind == IN_A_FILE ? 1 : 5);
		if (kind == IN_A_FILE)
			assert_int_equal(lseek(p[0], 0, SEEK_SET), 0);
		len = (size_t)read(p[0], got, sizeof(got));
		assert_int_equal(len, 20 * 1000);
		for (size_t i = 999; i < len; i += 1000)
			assert_int_equal(got[i], '\n');
		log_sink_fini(&w.sink);
		close(p[0]);
		close(p[1]);
	}
	fclose(file);
}

static void
can_be_opened_before_the_first_message(void **state)
{
	struct world w;
	uint64_t sockets;

	(void)state;
	world_init(&w);
	w.line.dest.kind = LOG_DEST_SOCKET;
	w.line.dest.u.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(9) };
	w.line.dest.len = sizeof(w.line.dest.u.in);
	log_open(&w.sink, &w.lines);
	sockets = calls(&w, SYS_CALL_socket);
	assert_int_equal(sockets, 1);
	log_open(&w.sink, &w.lines);
	say(&w, "x");
	log_flush(&w.sink);
	assert_int_equal(calls(&w, SYS_CALL_socket), sockets);
	log_sink_fini(&w.sink);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes_get_whole_lines),
		cmocka_unit_test(can_be_opened_before_the_first_message),
		cmocka_unit_test(test_a_turn_is_one_call),
		cmocka_unit_test(test_an_unreachable_target_is_reported),
		cmocka_unit_test(test_a_unix_server_restarts),
		cmocka_unit_test(test_a_clock_set_back_does_not_silence),
		cmocka_unit_test(test_a_full_socket_drops_messages),
		cmocka_unit_test(test_a_half_written_line_is_completed),
		cmocka_unit_test(test_flags_of_a_terminal_are_restored),
		cmocka_unit_test(test_a_sink_that_ends_leaves_a_pipe_to_others),
		cmocka_unit_test(test_a_stream_socket_gets_lines),
		cmocka_unit_test(test_a_closed_fd_is_a_dead_target),
		cmocka_unit_test(test_a_message_too_big_does_not_affect_others),
		cmocka_unit_test(test_targets_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
