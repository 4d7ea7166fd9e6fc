#include "cfg/entry.h"

#include <string.h>

#include "unit/test.h"

static const struct cfg_enum values[] = { { "never", 0, "No request." },
	{ "a-word-that-is-long <n>", 1, "Some requests, which is a text that needs two lines "
		"here." },
	{ 0 } };

static const struct cfg_entry whole = { .heading = "PROXY KEYWORDS",
	.intro = "What they are.\n",
	.name = "http-reuse",
	.syntax = "<way>",
	.doc = ".dots and \\1 are text",
	.values = values,
	.dflt = "never",
	.place = "In defaults, backend",
	.example = "http-reuse never\n.else" };

static struct sbuf out;

static const char *
roff(const struct cfg_entry *e, const char **heading)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	cfg_entry_man(&out, e, heading);
	return out.p;
}

static const char *
text(const struct cfg_entry *e)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	cfg_entry_text(&out, e);
	return out.p;
}

static void
words_with_one_meaning_stand_beside_each_other(void **state)
{
	static const struct cfg_enum words[] = { { "401", 1, "This status." },
		{ "403", 2, "This status." }, { "none", 0, "Nothing." }, { 0 } };
	const struct cfg_entry e = { .heading = "X", .name = "on", .values = words };
	const char *heading = "X";

	(void)state;
	assert_string_equal(roff(&e, &heading), ".TP\n\\fBon\\fR\n.RS\n.PD 0\n"
		".TP\n.B 401, 403\nThis status.\n.TP\n.B none\nNothing.\n.PD\n.RE\n");
	assert_string_equal(text(&e), "on\n"
		"    401, 403            This status.\n"
		"    none                Nothing.\n");
}

static void
a_page_has_headings_and_entries(void **state)
{
	struct cfg_entry e = whole;
	const char *heading = NULL;

	(void)state;
	assert_string_equal(roff(&e, &heading),
		".SH PROXY KEYWORDS\nWhat they are.\n"
		".TP\n\\fBhttp\\-reuse\\fR \\fI<way>\\fR\n\\&.dots and \\e1 are text.\n"
		".br\nDefault: never.\n.br\nIn defaults, backend.\nIn HAProxy since 1.6.\n"
		".RS\n.PD 0\n.TP\n.B never\nNo request.\n.TP\n.B a\\-word\\-that\\-is\\-long <n>\n"
		"Some requests, which is a text that needs two lines here.\n.PD\n.RE\n"
		".IP\n.nf\nhttp\\-reuse never\n\\&.else\n.fi\n");
	/* the second entry of a heading */
	e = (struct cfg_entry){ .heading = "PROXY KEYWORDS",
		.name = "x",
		.syntax = "<n>",
		.in_parens = 1,
		.is_hint = 1,
		.doc = "no reason" };
	assert_string_equal(roff(&e, &heading),
		".TP\n\\fBx\\fR(\\fI<n>\\fR)\nAccepted without effect: no reason.\n");
	e.doc = "does it?";
	assert_string_equal(roff(&e, &heading),
		".TP\n\\fBx\\fR(\\fI<n>\\fR)\nAccepted without effect: does it?\n");
	e.doc = NULL;
	e.syntax = NULL;
	assert_string_equal(roff(&e, &heading), ".TP\n\\fBx\\fR\nAccepted without effect.\n");
	sbuf_fini(&out);
}

static void
a_terminal_gets_text(void **state)
{
	struct cfg_entry e = whole;

	(void)state;
	assert_string_equal(text(&e),
		"http-reuse <way>\n"
		"    .dots and \\1 are text\n"
		"    never               No request.\n"
		"    a-word-that-is-long <n>\n"
		"                        Some requests, which is a text that needs two lines\n"
		"                        here.\n"
		"    Default: never\n"
		"    In defaults, backend\n"
		"    In HAProxy since 1.6.\n"
		"    Example:\n"
		"        http-reuse never\n"
		"        .else\n");
	e = (struct cfg_entry){ .name = "x", .syntax = "<n>", .in_parens = 1, .is_hint = 1 };
	assert_string_equal(text(&e), "x(<n>)\n    Accepted without effect.\n");
	sbuf_fini(&out);
}

static void
a_word_has_the_version_of_haproxy(void **state)
{
	static const char *const rows[][3] = {
		{ "PROXY KEYWORDS", "retries", "In HAProxy since 1.3 or before." },
		{ "PROXY KEYWORDS", "option httpslog", "In HAProxy since 2.5." },
		{ "GLOBAL KEYWORDS", "prealloc-fd", "In HAProxy since 2.7 to 3.0." },
		{ "GLOBAL KEYWORDS", "noktls", "In HAProxy since 3.3 or later." },
		{ "GLOBAL KEYWORDS", "tune.memory", "Not in HAProxy." },
		{ "SWITCHES FOR MEASUREMENTS", "tune.epoll.mode", "Not in HAProxy." },
		{ "FETCHES", "sc1_conn_cur", "In HAProxy since 1.5." },
		{ "ACTIONS", "set-var(<name>)", "In HAProxy since 1.6." },
		{ "ACTIONS", "track-sc<n>", "In HAProxy since 1.5." },
		/* the same word is older elsewhere */
		{ "GLOBAL KEYWORDS", "crt-base", "In HAProxy since 1.5." },
		{ "CRT-STORE KEYWORDS", "crt-base", "In HAProxy since 3.0." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cfg_entry e = { .heading = rows[i][0], .name = rows[i][1] };
		size_t before = strlen(e.name) + strlen("\n    ");

		assert_memory_equal(text(&e) + before, rows[i][2], strlen(rows[i][2]));
	}
	assert_string_equal(text(&(struct cfg_entry){ .heading = "FETCHES", .name = "x" }), "x\n");
	sbuf_fini(&out);
}

static void
an_example_has_the_name_of_its_word(void **state)
{
	struct cfg_entry e = { .heading = "FETCHES", .name = "res.cook" };

	(void)state;
	assert_non_null(strstr(text(&e), "    Example:\n        http-response set-header X-Session "
					 "%[res.cook(session)]\n"));
	e = (struct cfg_entry){ .heading = "CONVERTERS", .name = "map_dom_int" };
	assert_non_null(strstr(text(&e), "host),lower,map_dom_int(/etc/tacit/limits.map,10)\n"));
	/* its own counts before those */
	e = (struct cfg_entry){ .heading = "CONVERTERS", .name = "odd", .example = "x@y" };
	assert_non_null(strstr(text(&e), "        x@y\n"));
	assert_null(strstr(out.p, "gives"));
	sbuf_fini(&out);
}

static void
memory_that_is_short_is_noticed(void **state)
{
	char room[16];
	const char *heading = NULL;

	(void)state;
	sbuf_init_fixed(&out, room, sizeof(room));
	cfg_entry_man(&out, &whole, &heading);
	assert_true(out.failed);
	sbuf_init_fixed(&out, room, sizeof(room));
	cfg_entry_text(&out, &whole);
	assert_true(out.failed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_has_headings_and_entries),
		cmocka_unit_test(words_with_one_meaning_stand_beside_each_other),
		cmocka_unit_test(a_terminal_gets_text),
		cmocka_unit_test(a_word_has_the_version_of_haproxy),
		cmocka_unit_test(an_example_has_the_name_of_its_word),
		cmocka_unit_test(memory_that_is_short_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
