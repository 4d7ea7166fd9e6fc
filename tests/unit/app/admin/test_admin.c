/* Connections to the admin socket, over real sockets: commands, answers, and how connections
 * end. */
#include "unit/app/app_rig.h"

#include <errno.h>

#define ANSWER_MAX (4 << 20)
#define QUIET_TURNS 6
#define TURNS_MAX 4000

static char got[ANSWER_MAX];
static size_t got_len;
static int at_end; /* the other side has closed */

static int
setup(void **st)
{
	(void)st;
	rig_open("", "");
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	bench_turns();
	assert_int_equal(proc.admin->n, 0);
	assert_int_equal(rig_listener->conns, 0);
	rig_close();
	return 0;
}

static int
connect_admin(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, &rig_listener->addr.u.sa, rig_listener->addr.len), 0);
	return fd;
}

static void
take(int fd)
{
	for (;;) {
		ssize_t n = recv(fd, got + got_len, sizeof(got) - 1 - got_len, MSG_DONTWAIT);

		if (n <= 0) {
			at_end |= n == 0 || errno == ECONNRESET;
			got[got_len] = '\0';
			return;
		}
		got_len += (size_t)n;
	}
}

/* Reads until nothing arrives for a while. */
static const char *
read_available(int fd)
{
	size_t before;
	int quiet = 0;

	got_len = 0;
	at_end = 0;
	for (int i = 0; i < TURNS_MAX && quiet < QUIET_TURNS && !at_end; i++) {
		before = got_len;
		assert_int_equal(loop_turn(w->loop, 1), 0);
		take(fd);
		quiet = got_len == before ? quiet + 1 : 0;
	}
	return got;
}

static const char *
ask(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	return read_available(fd);
}

static void
one_line_is_answered_and_the_connection_closed(void **st)
{
	static const char *const lines[] = { "show cli level\n", "show cli level\r\n",
					     "show cli level\nshow cli level\n" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		int fd = connect_admin();

		assert_string_equal(ask(fd, lines[i]), "admin\n\n");
		assert_true(at_end);
		close(fd);
	}
}

static void
commands_are_chained_with_semicolons(void **st)
{
	int fd = connect_admin();

	(void)st;
	assert_string_equal(ask(fd, "show cli level;operator; show cli level\n"),
			    "admin\n\n\noperator\n\n");
	assert_true(at_end);
	close(fd);
}

/* socat shuts down its side at once, with or without a newline: it must still get the answer. */
static void
a_half_closed_client_gets_its_answer(void **st)
{
	static const char *const lines[] = { "show cli level\n", "show cli level" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		int fd = connect_admin();

		assert_int_equal(send(fd, lines[i], strlen(lines[i]), 0), strlen(lines[i]));
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		assert_string_equal(read_available(fd), "admin\n\n");
		assert_true(at_end);
		close(fd);
	}
}

static void
a_line_may_come_in_pieces(void **st)
{
	int fd = connect_admin();

	(void)st;
	assert_string_equal(ask(fd, "show c"), "");
	assert_string_equal(ask(fd, "li lev"), "");
	assert_false(at_end);
	assert_string_equal(ask(fd, "el\n"), "admin\n\n");
	assert_true(at_end);
	close(fd);
}

static void
no_command_gets_no_answer(void **st)
{
	int fd = connect_admin();

	(void)st;
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(read_available(fd), "");
	assert_true(at_end);
	close(fd);
	fd = connect_admin();
	assert_string_equal(ask(fd, "\n"), "");
	assert_true(at_end);
	close(fd);
}

static void
prompt_mode_lasts_until_quit(void **st)
{
	int fd = connect_admin();

	(void)st;
	assert_string_equal(ask(fd, "prompt\n"), "\n> ");
	assert_string_equal(ask(fd, "set timeout cli 60\n"), "\n> ");
	assert_string_equal(ask(fd, "show cli level\n"), "admin\n\n> ");
	assert_string_equal(ask(fd, "\n"), "\n> ");
	/* Several lines at once: each gets its answer. */
	assert_string_equal(ask(fd, "user\nshow cli level\r\nshow fd\n"),
			    "\n> user\n\n> Permission denied\n\n> ");
	assert_false(at_end);
	assert_string_equal(ask(fd, "quit\nshow cli level\n"), "");
	assert_true(at_end);
	close(fd);
}

static void
prompt_mode_ends_with_its_input(void **st)
{
	int fd = connect_admin();

	(void)st;
	(void)ask(fd, "prompt\n");
	assert_int_equal(send(fd, "show cli level\nshow cli level", 29, 0), 29);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(read_available(fd), "admin\n\n> admin\n\n> ");
	assert_true(at_end);
	close(fd);
}

/* The lines after "<<", up to an empty one, are the payload of the command. */
static void
a_payload_is_part_of_its_command(void **st)
{
	int fd = connect_admin();

	(void)st;
	assert_string_equal(ask(fd, "add acl #0 x; show cli level <<\n"), "");
	assert_string_equal(ask(fd, "one\ntwo\r\n"), "");
	assert_false(at_end);
	(void)ask(fd, "\r\n");
	assert_non_null(strstr(got, "admin\n\n"));
	assert_true(at_end);
	close(fd);
	/* Without its final empty line the payload is incomplete. */
	fd = connect_admin();
	assert_int_equal(send(fd, "show cli level <<\nx", 19, 0), 19);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(read_available(fd), "");
	assert_true(at_end);
	close(fd);
	/* A prompt is sent for each line of the payload. */
	fd = connect_admin();
	(void)ask(fd, "prompt\n");
	assert_string_equal(ask(fd, "show cli level <<\n"), "+ ");
	assert_string_equal(ask(fd, "x\ny\n"), "+ + ");
	assert_string_equal(ask(fd, "\n"), "admin\n\n> ");
	assert_string_equal(ask(fd, "show cli level <<\nx\n\nshow cli level\n"),
			    "+ + admin\n\n> admin\n\n> ");
	/* Without a blank before it, "<<" is part of the word. */
	assert_int_equal(strncmp(ask(fd, "show cli level<<\n"), "Unknown", 7), 0);
	assert_int_equal(send(fd, "\0 <<\n\n", 6, 0), 6);
	(void)read_available(fd);
	assert_string_equal(ask(fd, "show cli level\n"), "admin\n\n> ");
	close(fd);
}

static void
a_line_has_a_maximum_length(void **st)
{
	static char line[CLI_LINE_MAX + 8192];
	int fd = connect_admin();

	(void)st;
	memset(line, 'x', sizeof(line) - 1);
	assert_string_equal(ask(fd, line), "Command line too long\n\n");
	assert_true(at_end);
	close(fd);
	/* A line of the maximum length is only unknown. */
	fd = connect_admin();
	line[CLI_LINE_MAX - 1] = '\n';
	line[CLI_LINE_MAX] = '\0';
	assert_int_equal(strncmp(ask(fd, line), "Unknown command", 15), 0);
	close(fd);
}

/* The bound applies to one line: any number of short lines may wait in the socket. */
static void
many_lines_at_once(void **st)
{
	enum { LINES = 6000 };
	static char text[LINES * 15 + 1];
	int fd = connect_admin(), size = 1 << 20;
	size_t n = 0;

	(void)st;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	(void)ask(fd, "prompt\n");
	for (int i = 0; i < LINES; i++)
		n += (size_t)sprintf(text + n, "show cli level\n");
	assert_string_not_equal(ask(fd, text), "");
	assert_int_equal(got_len, LINES * strlen("admin\n\n> "));
	assert_null(strstr(got, "too long"));
	close(fd);
}

/* Answers wait for a client that reads slowly, and no further command runs meanwhile. */
static void
a_slow_reader_loses_nothing(void **st)
{
	enum { LINES = 300 };
	char text[LINES * 10 + 1];
	int fd = connect_admin();
	size_t n = 0;

	(void)st;
	(void)ask(fd, "prompt\n");
	for (int i = 0; i < LINES; i++)
		memcpy(text + i * 10, "show info\n", 10);
	assert_int_equal(send(fd, text, LINES * 10, MSG_NOSIGNAL), LINES * 10);
	bench_turns();
	assert_true(proc.admin->lines < LINES);
	(void)read_available(fd);
	for (const char *at = got; (at = strstr(at, "\n\n> ")) != NULL; at++)
		n++;
	assert_int_equal(n, LINES);
	assert_int_equal(strncmp(got, "Name: ", 6), 0);
	close(fd);
}

/* A client that closes before its answer leaves nothing behind. */
static void
a_client_that_closes_early_leaves_nothing(void **st)
{
	int fd[8];

	(void)st;
	for (int i = 0; i < 8; i++) {
		fd[i] = connect_admin();
		if (i & 1)
			assert_int_equal(send(fd[i], "prompt\nshow info\nshow s", 23, 0), 23);
		if (i & 2)
			bench_turns();
		if (i & 4)
			assert_int_equal(shutdown(fd[i], SHUT_RD), 0);
		close(fd[i]);
	}
	bench_turns();
	assert_int_equal(proc.admin->n, 0);
	/* The listener and the signals are still there. */
	assert_int_equal(rig_listener->accepted, 8);
}

static void
an_idle_connection_is_closed(void **st)
{
	int fd;
	uint64_t start;

	(void)st;
	rig_close();
	rig_open("stats timeout 30ms", "");
	fd = connect_admin();
	start = loop_now_ms(w->loop);
	for (at_end = 0; !at_end && loop_now_ms(w->loop) < start + 60000;) {
		assert_int_equal(loop_turn(w->loop, 100), 0);
		take(fd);
	}
	assert_true(at_end);
	assert_true(loop_now_ms(w->loop) - start >= 25);
	close(fd);
	/* `set timeout cli` changes the timeout of this connection. */
	fd = connect_admin();
	(void)ask(fd, "prompt; set timeout cli 10\n");
	start = loop_now_ms(w->loop);
	while (loop_now_ms(w->loop) < start + 60)
		assert_int_equal(loop_turn(w->loop, 20), 0);
	assert_string_equal(ask(fd, "show cli level\n"), "admin\n\n> ");
	close(fd);
}

static void
maxconn_is_enforced(void **st)
{
	int fd[3];

	(void)st;
	rig_close();
	rig_open("stats maxconn 2", "");
	for (int i = 0; i < 3; i++)
		fd[i] = connect_admin();
	bench_turns();
	assert_int_equal(proc.admin->n, 2);
	assert_int_equal(send(fd[2], "show cli level\n", 15, 0), 15);
	assert_string_equal(read_available(fd[2]), "");
	assert_false(at_end);
	close(fd[0]);
	assert_string_equal(read_available(fd[2]), "admin\n\n");
	close(fd[1]);
	close(fd[2]);
}

static void
the_level_is_that_of_the_bind_line(void **st)
{
	static const struct {
		enum bind_level level;
		const char *name;
	} t[] = { { BIND_USER, "user\n\n" }, { BIND_OPERATOR, "operator\n\n" },
		  { BIND_ADMIN, "admin\n\n" } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		int fd;

		rig_listener->bind->level = t[i].level;
		fd = connect_admin();
		assert_string_equal(ask(fd, "show cli level\n"), t[i].name);
		close(fd);
	}
	rig_listener->bind->severity = BIND_SEVERITY_NUMBER;
	{
		int fd = connect_admin();

		assert_int_equal(strncmp(ask(fd, "nonsense\n"), "[6]: Unknown", 12), 0);
		close(fd);
	}
}

/* The worker ends while connections are open. */
static void
ends_with_the_worker(void **st)
{
	int fd[3];

	for (int i = 0; i < 3; i++) {
		fd[i] = connect_admin();
		(void)ask(fd[i], "prompt\n");
	}
	assert_int_equal(proc.admin->n, 3);
	rig_close();
	for (int i = 0; i < 3; i++) {
		at_end = 0;
		take(fd[i]);
		assert_true(at_end);
		close(fd[i]);
	}
	setup(st);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_line_is_answered_and_the_connection_closed),
		CASE(commands_are_chained_with_semicolons),
		CASE(a_half_closed_client_gets_its_answer),
		CASE(a_line_may_come_in_pieces),
		CASE(no_command_gets_no_answer),
		CASE(prompt_mode_lasts_until_quit),
		CASE(prompt_mode_ends_with_its_input),
		CASE(a_payload_is_part_of_its_command),
		CASE(a_line_has_a_maximum_length),
		CASE(many_lines_at_once),
		CASE(a_slow_reader_loses_nothing),
		CASE(a_client_that_closes_early_leaves_nothing),
		CASE(an_idle_connection_is_closed),
		CASE(maxconn_is_enforced),
		CASE(the_level_is_that_of_the_bind_line),
		CASE(ends_with_the_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
