/* A worker with an admin socket, and functions that run admin commands in it. */
#ifndef TESTS_UNIT_APP_ADMIN_RIG_H
#define TESTS_UNIT_APP_ADMIN_RIG_H

#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "unit/test.h"

#include "app/admin/admin.h"
#include "app/admin/admin_int.h"

static struct admin_conn rig_conn;
static struct sbuf rig_answer;
static struct listener *rig_listener;

/* Starts a worker with these additional lines in its global section; see bench_open(). */
static inline void
rig_open(const char *global, const char *proxy)
{
	char text[800];

	snprintf(text, sizeof(text), "stats socket abns@tacit-unit-%d level admin\n%s",
		 (int)getpid(), global);
	assert_int_equal(bench_open(text, proxy), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	rig_listener = list_first(
		&list_first(&cfg.global.admin_binds, struct bind_conf, link)->listeners,
		struct listener, link);
	memset(&rig_conn, 0, sizeof(rig_conn));
}

static inline void
rig_close(void)
{
	sbuf_fini(&rig_conn.out);
	sbuf_fini(&rig_answer);
	bench_close();
}

/* Produces the whole answer to a line, slice by slice. */
static inline const char *
rig_run_line(char *line, char *payload)
{
	sbuf_fini(&rig_answer);
	sbuf_init(&rig_answer, 0);
	sbuf_fini(&rig_conn.out);
	sbuf_init(&rig_conn.out, ADMIN_OUT_MAX);
	admin_begin_line(&rig_conn, line, payload);
	while (rig_conn.line) {
		admin_run_line(&rig_conn);
		/* The parts of other workers need a real connection. */
		assert_null(rig_conn.ask.worker);
		assert_false(rig_conn.out.failed);
		sbuf_add(&rig_answer, rig_conn.out.p ? rig_conn.out.p : "", rig_conn.out.len);
		sbuf_reset(&rig_conn.out);
		/* `wait`: time passes. */
		if (rig_conn.wake_ms)
			assert_int_equal(loop_turn(w->loop, 5), 0);
	}
	return rig_answer.len ? rig_answer.p : "";
}

/* The answer to a line on a connection of its own. The text is valid until the next call. */
static inline const char *
rig_run(enum bind_level level, const char *line)
{
	char *copy = strdup(line);
	const char *answer;

	assert_non_null(copy);
	sbuf_fini(&rig_conn.out);
	memset(&rig_conn, 0, sizeof(rig_conn));
	rig_conn.admin = proc.admin;
	rig_conn.level = level;
	rig_conn.timeout_ms = 10000;
	admin_ask_init(&rig_conn.ask, NULL);
	answer = rig_run_line(copy, NULL);
	free(copy);
	return answer;
}

static inline const char *
rig_command(const char *line)
{
	return rig_run(BIND_ADMIN, line);
}

/* Clients split answers at empty lines: there is one at the end and none before. */
static inline void
rig_check_shape(const char *answer)
{
	const char *empty = strstr(answer, "\n\n");

	/* An empty answer, and the empty line that `echo` makes of no text. */
	if (strcmp(answer, "\n") == 0 || strcmp(answer, "\n\n") == 0)
		return;
	if (answer[0] == '\n' || !empty || empty[2])
		fail_msg("an empty line is missing or too early: '%.300s'", answer);
}

/* The number of lines of an answer, without the empty one at its end. */
static inline unsigned int
rig_lines(const char *answer)
{
	unsigned int n = 0;

	for (; *answer; answer++)
		n += *answer == '\n';
	return n - 1;
}

static inline void
rig_check_start(const char *answer, const char *start)
{
	if (strncmp(answer, start, strlen(start)) != 0)
		fail_msg("'%.300s' does not start with '%s'", answer, start);
}

/* The nth line, without its newline. */
static inline const char *
rig_line(const char *answer, int nth)
{
	static char line[4096];

	while (nth-- > 0) {
		answer = strchr(answer, '\n');
		assert_non_null(answer);
		answer++;
	}
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(answer, "\n"), answer);
	return line;
}

#endif
