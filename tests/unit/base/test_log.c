#include "base/log.c"
#include "unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/* 2026-11-20 23:41:57.571234 UTC */
#define NOW UINT64_C(1795218117571234000)

struct world {
	struct sys sys;
	struct log_sink sink;
	struct log_line line;
	struct list lines;
	int to, from; /* a datagram socketpair: one message per read */
};

static uint64_t
fixed_clock(void *arg)
{
	return *(uint64_t *)arg;
}

static uint64_t now_ns;

static void
world_init(struct world *w)
{
	const struct log_ident id = { "tacit", NULL, 4321, NULL };
	int sv[2];

	setenv("TZ", "UTC0", 1);
	now_ns = NOW;
	sys_init(&w->sys, &sys_linux, NULL);
	log_sink_init(&w->sink, &w->sys, &id);
	w->sink.wall_ns = fixed_clock;
	w->sink.wall_arg = &now_ns;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv), 0);
	w->to = sv[0];
	w->from = sv[1];
	log_line_init(&w->line);
	w->line.dest.kind = LOG_DEST_FD;
	w->line.dest.fd = w->to;
	w->line.facility = log_facility_parse("local0");
	list_init(&w->lines);
	list_append(&w->lines, &w->line.link);
	w->sink.lines = &w->lines;
}

static void
world_fini(struct world *w)
{
	log_sink_fini(&w->sink);
	close(w->to);
	close(w->from);
}

/* The next message, or "" for none. */
static const char *
got(struct world *w)
{
	static char buf[LOG_LEN_MAX + 2];
	ssize_t n;

	log_flush(&w->sink);
	n = recv(w->from, buf, sizeof(buf) - 1, MSG_DONTWAIT);
	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static void
test_every_form(void **state)
{
	static const struct {
		const char *form, *host, *want;
	} rows[] = {
		{ "local", NULL, "<134>Nov 20 23:41:57 tacit[4321]: hello\n" },
		{ "local", "h1", "<134>Nov 20 23:41:57 tacit[4321]: hello\n" },
		{ "rfc3164", NULL, "<134>Nov 20 23:41:57 localhost tacit[4321]: hello\n" },
		{ "rfc3164", "h1", "<134>Nov 20 23:41:57 h1 tacit[4321]: hello\n" },
		{ "rfc5424", NULL,
			"<134>1 2026-11-20T23:41:57.571234+00:00 - tacit 4321 - - hello\n" },
		{ "rfc5424", "h1",
			"<134>1 2026-11-20T23:41:57.571234+00:00 h1 tacit 4321 - - hello\n" },
		{ "priority", NULL, "<134>hello\n" },
		{ "short", NULL, "<6>hello\n" },
		{ "timed", NULL, "<6>2026-11-20T23:41:57.571234+00:00 hello\n" },
		{ "iso", NULL, "2026-11-20T23:41:57.571234+00:00 hello\n" },
		{ "raw", NULL, "hello\n" },
	};
	struct world w;

	(void)state;
	world_init(&w);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		w.line.form = (enum log_form)log_form_parse(rows[i].form);
		w.sink.id.hostname = rows[i].host;
		log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, "hello", 5);
		assert_string_equal(got(&w), rows[i].want);
	}
	world_fini(&w);
}

static void
send_sd(struct world *w, const char *tag, const char *sd, int is_json, const char *text, size_t len)
{
	const struct log_message m = { .tag = tag, .sd = sd, .text = { text, len },
		.is_json = is_json };

	log_send_message(&w->sink, &w->lines, LOG_LEVEL_INFO, &m);
}

static void
test_structured_data(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_RFC5424;
	send_sd(&w, "t", "[a b=\"\n\"]", 0, "m", 1);
	assert_non_null(strstr(got(&w), " - [a b=\"#0A\"] m\n"));
	/* Other formats have no field for it. */
	w.line.form = LOG_FORM_SHORT;
	send_sd(&w, "t", "[a]", 0, "m", 1);
	assert_string_equal(got(&w), "<6>m\n");
	/* Structured data is truncated as the text is. */
	w.line.form = LOG_FORM_RFC5424;
	w.line.max_len = LOG_LEN_MIN;
	send_sd(&w, "t",
		"[a b=\"0123456789012345678901234567890123456789012345678901234567890123456789\"]",
		0, "m", 1);
	assert_int_equal(strlen(got(&w)), LOG_LEN_MIN + 1);
	world_fini(&w);
}

/* A line's own tag replaces that of all messages, in the header and in the room that it takes. */
static void
test_tag_of_a_line(void **state)
{
	struct world w;
	size_t room;

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_RFC5424;
	room = log_room(&w.sink, &w.lines, LOG_LEVEL_INFO, "theirs", NULL);
	w.line.tag = "own";
	assert_int_equal(log_room(&w.sink, &w.lines, LOG_LEVEL_INFO, "theirs", NULL), room + 3);
	assert_int_equal(log_line_room(&w.sink, &w.line, LOG_LEVEL_INFO, NULL, NULL), room + 3);
	send_sd(&w, "theirs", NULL, 0, "m", 1);
	assert_non_null(strstr(got(&w), " own "));
	w.line.form = LOG_FORM_JSON;
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, "m", 1);
	assert_non_null(strstr(got(&w), "\"tag\":\"own\""));
	world_fini(&w);
}

/* One line of several; its level and sample count there too. */
static void
test_one_line(void **state)
{
	const struct log_message m = { .tag = "t", .text = STR("m") };
	struct world w;
	const char *why;

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_SHORT;
	w.line.minlevel = LOG_LEVEL_NOTICE;
	assert_int_equal(log_sample_parse("2:2", &w.line.sample, &why), 0);
	assert_false(log_line_takes(&w.line, LOG_LEVEL_ERR));
	assert_true(log_line_takes(&w.line, LOG_LEVEL_ERR));
	log_line_send(&w.sink, &w.line, LOG_LEVEL_ERR, &m);
	assert_string_equal(got(&w), "<5>m\n");
	w.line.level = LOG_LEVEL_EMERG;
	assert_false(log_line_takes(&w.line, LOG_LEVEL_ERR));
	assert_int_equal(w.line.sample.seen, 2);
	world_fini(&w);
}

/* A line is one object for any message, and never longer than its target allows. */
static void
test_json(void **state)
{
	struct world w;
	char text[200], escaped[2 * sizeof(text) + 1];

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_JSON;
	log_send(&w.sink, &w.lines, LOG_LEVEL_WARNING, "t\"g", "a \"b\"\n\xff", 7);
	assert_string_equal(strstr(got(&w), ",\"level\":"),
		",\"level\":\"warning\",\"tag\":\"t\\\"g\",\"pid\":4321,"
		"\"message\":\"a \\\"b\\\"\\u000a\\ufffd\"}\n");
	send_sd(&w, NULL, NULL, 1, "{\"a\":1}", 7);
	assert_string_equal(got(&w), "{\"a\":1}\n");
	memset(text, '\\', sizeof(text));
	memset(escaped, '\\', sizeof(escaped) - 1);
	escaped[sizeof(escaped) - 1] = '\0';
	for (w.line.max_len = LOG_LEN_MIN; w.line.max_len < 600; w.line.max_len++) {
		const char *line;

		log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, "t", text, sizeof(text));
		line = got(&w);
		assert_in_range(strlen(line), 3, w.line.max_len + 1);
		assert_string_equal(line + strlen(line) - 2, "}\n");
		assert_int_equal(strstr(line, "\"cut\":true") == NULL && strlen(line) > 3,
			strstr(line, escaped) != NULL);
	}
	world_fini(&w);
}

/* The longest message that no target truncates. */
static void
test_room(void **state)
{
	static const char *const sd[] = { NULL, "[a]" };
	struct world w;
	char text[LOG_LEN_DEFAULT];

	(void)state;
	world_init(&w);
	memset(text, 'x', sizeof(text));
	for (int form = 0; form < LOG_FORMS; form++)
		for (size_t i = 0; i < ARRAY_LEN(sd); i++) {
			size_t n;

			w.line.form = (enum log_form)form;
			n = log_room(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, sd[i]);
			send_sd(&w, NULL, sd[i], form == LOG_FORM_JSON, text, n);
			assert_int_equal(strlen(got(&w)), w.line.max_len + 1);
		}
	/* A message below this level does not count. */
	w.line.level = LOG_LEVEL_ERR;
	assert_int_equal(log_room(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, NULL), LOG_LEN_MAX);
	world_fini(&w);
}

static void
test_levels_filter_and_cap(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_SHORT;
	w.line.level = LOG_LEVEL_NOTICE;
	w.line.minlevel = LOG_LEVEL_ERR;
	log_msg(&w.sink, LOG_LEVEL_INFO, "not sent");
	assert_string_equal(got(&w), "");
	log_msg(&w.sink, LOG_LEVEL_NOTICE, "n %d", 1);
	assert_string_equal(got(&w), "<5>n 1\n");
	log_msg(&w.sink, LOG_LEVEL_EMERG, "capped");
	assert_string_equal(got(&w), "<3>capped\n");
	assert_int_equal(w.sink.sent, 2);
	assert_int_equal(w.sink.dropped, 0);
	world_fini(&w);
}

static void
test_control_bytes_are_shown(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_RAW;
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, "a\nb\0c\x7f\t\xc3\xa9", 9);
	assert_string_equal(got(&w), "a#0Ab#00c#7F\t\xc3\xa9\n");
	world_fini(&w);
}

static void
test_long_messages_are_cut(void **state)
{
	char text[200];
	struct world w;
	const char *m;

	(void)state;
	world_init(&w);
	memset(text, 'x', sizeof(text));
	w.line.max_len = 80;
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, "a-tag", text, sizeof(text));
	m = got(&w);
	assert_int_equal(strlen(m), 81);
	assert_memory_equal(m, "<134>Nov 20 23:41:57 a-tag[4321]: xx", 36);
	assert_int_equal(m[80], '\n');
	/* An escape sequence is not split. */
	w.line.form = LOG_FORM_RAW;
	text[78] = '\n';
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, text, sizeof(text));
	m = got(&w);
	assert_int_equal(strlen(m), 79);
	/* The tag is longer than the line. */
	w.line.form = LOG_FORM_LOCAL;
	text[199] = '\0';
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, text, "m", 1);
	assert_int_equal(strlen(got(&w)), 81);
	world_fini(&w);
}

static void
test_longest_line_fits(void **state)
{
	static char text[LOG_LEN_MAX + 10];
	struct world w;

	(void)state;
	world_init(&w);
	memset(text, 'y', sizeof(text));
	w.line.max_len = LOG_LEN_MAX;
	w.line.form = LOG_FORM_RAW;
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, text, sizeof(text));
	assert_int_equal(strlen(got(&w)), LOG_LEN_MAX + 1);
	world_fini(&w);
}

/* When the memory of one turn is full, lines are sent early instead of being lost. */
static void
test_memory_is_bounded(void **state)
{
	static char text[1000];
	struct world w;
	int fds[2];

	(void)state;
	world_init(&w);
	assert_int_equal(pipe(fds), 0);
	w.line.dest.fd = fds[1];
	w.line.form = LOG_FORM_RAW;
	memset(text, 'z', sizeof(text));
	for (int i = 0; i < 300; i++)
		log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, text, sizeof(text));
	assert_true(w.sink.used <= LOG_RING_SIZE);
	log_flush(&w.sink);
	/* A pipe holds 64 KiB: some lines are dropped, and all are counted. */
	assert_true(w.sink.sent > 0 && w.sink.dropped > 0);
	assert_int_equal(w.sink.sent + w.sink.dropped, 300);
	world_fini(&w);
	close(fds[0]);
	close(fds[1]);
}

/* The message fits without its newline only. */
static void
test_memory_is_bounded_to_the_byte(void **state)
{
	static char text[80];
	struct world w;
	int n = LOG_RING_SIZE / 88 - 1;

	(void)state;
	world_init(&w);
	w.line.form = LOG_FORM_RAW;
	w.line.max_len = 80;
	memset(text, 'z', sizeof(text));
	for (int i = 0; i < n; i++)
		log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, text, 79);
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, text, 71);
	assert_int_equal(LOG_RING_SIZE - w.sink.used, 88);
	log_send(&w.sink, &w.lines, LOG_LEVEL_INFO, NULL, text, 80);
	assert_int_equal(w.sink.used, 96);
	world_fini(&w);
}

static void
test_names(void **state)
{
	(void)state;
	assert_int_equal(log_level_parse("emerg"), LOG_LEVEL_EMERG);
	assert_int_equal(log_level_parse("notice"), LOG_LEVEL_NOTICE);
	assert_int_equal(log_level_parse("debug"), LOG_LEVELS - 1);
	assert_int_equal(log_facility_parse("kern"), 0);
	assert_int_equal(log_facility_parse("local7"), 23);
	assert_int_equal(log_facility_parse("cron2"), 15);
	assert_true(log_facility_parse("local8") < 0);
	assert_true(log_level_parse("") < 0);
	assert_true(log_form_parse("rfc5424x") < 0);
}

static void
test_without_a_sink_or_lines(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	log_msg(NULL, LOG_LEVEL_ALERT, "nobody hears");
	log_send(&w.sink, NULL, LOG_LEVEL_ALERT, NULL, "x", 1);
	w.sink.lines = NULL;
	log_msg(&w.sink, LOG_LEVEL_ALERT, "nobody hears");
	assert_string_equal(got(&w), "");
	assert_null(w.sink.ring);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_form),
		cmocka_unit_test(test_structured_data),
		cmocka_unit_test(test_tag_of_a_line),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_levels_filter_and_cap),
		cmocka_unit_test(test_control_bytes_are_shown),
		cmocka_unit_test(test_long_messages_are_cut),
		cmocka_unit_test(test_longest_line_fits),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_memory_is_bounded_to_the_byte),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_without_a_sink_or_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
