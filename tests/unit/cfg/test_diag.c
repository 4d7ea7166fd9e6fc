#include <stdio.h>
#include <string.h>

#include "cfg/diag.h"
#include "fake/print_diag.h"
#include "unit/test.h"

static char out[200000];

static const char *
printed(const struct cfg_diag *d, int quiet)
{
	FILE *f = fmemopen(out, sizeof(out), "w");

	assert_non_null(f);
	print_diag(d, f, quiet);
	fclose(f);
	return out;
}

static void
messages_have_their_form(void **state)
{
	static const char text[] = "one\n\ttwo three\r\n\nlast";
	struct cfg_diag d;
	struct cfg_where w;

	(void)state;
	cfg_diag_init(&d, 1234);
	w.file = cfg_diag_file(&d, "a.cfg", text, strlen(text));
	w.line = 2;
	w.col = 6;
	cfg_diag_add(&d, CFG_ALERT, &w, "bad '%s'", "three");
	w.line = 1;
	w.col = 0;
	cfg_diag_add(&d, CFG_WARNING, &w, "whole line");
	w.line = 3;
	w.col = 1;
	cfg_diag_add(&d, CFG_NOTICE, &w, "empty line");
	cfg_diag_add(&d, CFG_WARNING, NULL, "no place\nsecond line \x1b[31m");
	cfg_diag_add(&d, CFG_DIAGMSG, NULL, "not asked for");
	w.line = 4;
	w.col = 5;
	cfg_diag_add(&d, CFG_ALERT, &w, "past the end");
	assert_string_equal(printed(&d, 0),
			    "[ALERT]    (1234) : config : parsing [a.cfg:2:6] : bad 'three'\n"
			    "  \ttwo three\n"
			    "  \t    ^\n"
			    "[WARNING]  (1234) : config : parsing [a.cfg:1] : whole line\n"
			    "  one\n"
			    "[NOTICE]   (1234) : config : parsing [a.cfg:3:1] : empty line\n"
			    "[WARNING]  (1234) : config : no place\n"
			    "   | second line ?[31m\n"
			    "[ALERT]    (1234) : config : parsing [a.cfg:4:5] : past the end\n"
			    "  last\n"
			    "      ^\n");
	assert_string_equal(printed(&d, 1),
			    "[ALERT]    (1234) : config : parsing [a.cfg:2:6] : bad 'three'\n"
			    "  \ttwo three\n"
			    "  \t    ^\n"
			    "[ALERT]    (1234) : config : parsing [a.cfg:4:5] : past the end\n"
			    "  last\n"
			    "      ^\n");
	assert_int_equal(d.count[CFG_DIAGMSG], 1);
	cfg_diag_fini(&d);
}

/* A notice on a line with an error is omitted; text is escaped. */
static void
messages_are_printed_as_json(void **state)
{
	struct cfg_where w = { .line = 2, .col = 6 };
	struct cfg_diag d;
	FILE *f;

	(void)state;
	cfg_diag_init(&d, 1234);
	w.file = cfg_diag_file(&d, "a \"b\".cfg", "1\n2\n3\n", 6);
	cfg_diag_add(&d, CFG_ALERT, &w, "bad 'x'");
	w.line = 3;
	cfg_diag_add(&d, CFG_ALERT, &w, "bad 'x'");
	cfg_diag_add(&d, CFG_NOTICE, &w, "no effect");
	w.line = 1;
	cfg_diag_add(&d, CFG_NOTICE, &w, "no effect");
	w.col = 0;
	cfg_diag_add(&d, CFG_WARNING, &w, "a line");
	cfg_diag_add(&d, CFG_WARNING, NULL, "no place\n\x1b");
	f = fmemopen(out, sizeof(out), "w");
	assert_non_null(f);
	cfg_diag_print_json(&d, f);
	fclose(f);
	assert_string_equal(out,
		"{\"valid\":false,\"messages\":["
		"{\"severity\":\"error\",\"text\":\"bad 'x'\",\"places\":["
		"{\"file\":\"a \\\"b\\\".cfg\",\"line\":2,\"column\":6},"
		"{\"file\":\"a \\\"b\\\".cfg\",\"line\":3,\"column\":6}]},"
		"{\"severity\":\"notice\",\"text\":\"no effect\",\"places\":["
		"{\"file\":\"a \\\"b\\\".cfg\",\"line\":1,\"column\":6}]},"
		"{\"severity\":\"warning\",\"text\":\"a line\",\"places\":["
		"{\"file\":\"a \\\"b\\\".cfg\",\"line\":1}]},"
		"{\"severity\":\"warning\",\"text\":\"no place\\u000a\\u001b\",\"places\":[]}"
		"],\"not_shown\":0}\n");
	cfg_diag_fini(&d);
}

static void
only_alerts_are_fatal(void **state)
{
	struct cfg_diag d;

	(void)state;
	cfg_diag_init(&d, 0);
	cfg_diag_add(&d, CFG_NOTICE, NULL, "x");
	assert_false(cfg_diag_is_fatal(&d));
	d.werror = 1;
	assert_false(cfg_diag_is_fatal(&d));
	cfg_diag_add(&d, CFG_WARNING, NULL, "x");
	assert_true(cfg_diag_is_fatal(&d));
	assert_string_equal(printed(&d, 1), "[WARNING]  config : x\n");
	d.werror = 0;
	assert_false(cfg_diag_is_fatal(&d));
	cfg_diag_add(&d, CFG_ALERT, NULL, "x");
	assert_true(cfg_diag_is_fatal(&d));
	d.diagmode = 1;
	cfg_diag_add(&d, CFG_DIAGMSG, NULL, "shown");
	assert_non_null(strstr(printed(&d, 0), "[DIAG]     config : shown\n"));
	cfg_diag_fini(&d);
}

static void
numbers_and_lines_are_bounded(void **state)
{
	const char *source, *caret;
	char longline[4000];
	struct cfg_diag d;
	struct cfg_where w;

	(void)state;
	cfg_diag_init(&d, 0);
	for (int i = 0; i < CFG_DIAG_MAX + 7; i++)
		cfg_diag_add(&d, CFG_ALERT, NULL, "number %d", i);
	assert_int_equal(d.nentry, CFG_DIAG_MAX);
	assert_int_equal(d.count[CFG_ALERT], CFG_DIAG_MAX + 7);
	assert_non_null(strstr(printed(&d, 0), "config : 7 more messages are not shown.\n"));
	cfg_diag_fini(&d);

	/* only a part of a very long line is shown, around the column, with control characters
	 * escaped */
	cfg_diag_init(&d, 0);
	memset(longline, 'a', sizeof(longline) - 1);
	longline[sizeof(longline) - 1] = '\0';
	memcpy(longline + 1999, "\x1b\x7f#", 3);
	w.file = cfg_diag_file(&d, "long", longline, strlen(longline));
	w.line = 1;
	w.col = 2000;
	cfg_diag_add(&d, CFG_ALERT, &w, "%s", longline + 2500);
	printed(&d, 0);
	source = strchr(out, '\n') + 1;
	caret = strchr(source, '\n') + 1;
	assert_memory_equal(source + strcspn(source, "?"), "??#a", 4);
	assert_int_equal(strcspn(source, "?"), strcspn(caret, "^"));
	assert_true(strlen(out) < CFG_DIAG_TEXT_MAX + 2 * CFG_DIAG_SHOWN_MAX + 80);
	cfg_diag_fini(&d);
}

static void
files_are_numbered(void **state)
{
	struct cfg_diag d;
	const struct cfg_file *f;
	size_t len;

	(void)state;
	cfg_diag_init(&d, 0);
	f = cfg_diag_file(&d, "x", "", 0);
	assert_int_equal((cfg_file_line(f, 1, &len), len), 0);
	assert_int_equal((cfg_file_line(f, 9, &len), len), 0);
	f = cfg_diag_file(&d, "y", "a\nbb\n", 5);
	assert_memory_equal(cfg_file_line(f, 2, &len), "bb", 2);
	assert_int_equal(len, 2);
	assert_int_equal((cfg_file_line(f, 3, &len), len), 0);
	while (d.nfile < CFG_FILES_MAX)
		assert_non_null(cfg_diag_file(&d, "z", "", 0));
	assert_null(cfg_diag_file(&d, "z", "", 0));
	cfg_diag_fini(&d);
}

/* The places of a message appear in the entry that is printed for it. */
static void
a_repeated_message_lists_its_places(void **state)
{
	static const char text[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n";
	static const unsigned lines[] = { 3, 5, 2, 5, 9 };
	struct cfg_diag d;
	struct cfg_where w = { .col = 1 };

	(void)state;
	cfg_diag_init(&d, 0);
	w.file = cfg_diag_file(&d, "a.cfg", text, strlen(text));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		w.line = lines[i];
		cfg_diag_add(&d, CFG_ALERT, &w, "not supported");
		cfg_diag_add(&d, CFG_WARNING, NULL, "no place");
	}
	w.file = cfg_diag_file(&d, "b.cfg", text, strlen(text));
	w.line = 2;
	cfg_diag_add(&d, CFG_ALERT, &w, "not supported");
	cfg_diag_add(&d, CFG_WARNING, &w, "not supported");
	assert_string_equal(printed(&d, 0),
			    "[ALERT]    config : parsing [a.cfg:3:1] : not supported\n"
			    "  3\n"
			    "  ^\n"
			    "   | and 4 more lines: 2, 5, 9, b.cfg:2\n"
			    "[WARNING]  config : no place\n"
			    "[WARNING]  config : parsing [b.cfg:2:1] : not supported\n"
			    "  2\n"
			    "  ^\n");
	assert_int_equal(d.count[CFG_ALERT], 6);
	cfg_diag_summary(&d, out, sizeof(out));
	assert_string_equal(out, "2 files: 1 error (5 lines), 2 warnings");
	cfg_diag_fini(&d);

	/* more places than are listed */
	cfg_diag_init(&d, 0);
	w.file = cfg_diag_file(&d, "a.cfg", text, strlen(text));
	for (w.line = 1; w.line <= CFG_DIAG_LINES_MAX + 2; w.line++)
		cfg_diag_add(&d, CFG_ALERT, &w, "again");
	assert_non_null(strstr(printed(&d, 0),
			       "| and 13 more lines: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
			       "...\n"));
	cfg_diag_summary(&d, out, sizeof(out));
	assert_string_equal(out, "a.cfg: 1 error (14 lines), 0 warnings");
	cfg_diag_fini(&d);
}

/* Messages that differ in a name only are one entry, with the text of the first. */
static void
messages_that_differ_in_a_name_are_one(void **state)
{
	static const char text[] = "1\n2\n3\n4\n";
	static const char *const names[] = { "a", "bb", "" };
	struct cfg_diag d;
	struct cfg_where w = { .col = 1 };

	(void)state;
	cfg_diag_init(&d, 0);
	w.file = cfg_diag_file(&d, "a.cfg", text, strlen(text));
	for (w.line = 1; w.line <= 3; w.line++)
		cfg_diag_add(&d, CFG_WARNING, &w,
			"nothing for " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME " here",
			names[w.line - 1]);
	cfg_diag_add(&d, CFG_WARNING, &w,
		"nothing for " CFG_DIAG_NAME "'a'" CFG_DIAG_NAME " there");
	assert_string_equal(printed(&d, 0),
			    "[WARNING]  config : parsing [a.cfg:1:1] : nothing for 'a' here\n"
			    "  1\n"
			    "  ^\n"
			    "   | and 2 more lines: 2, 3\n"
			    "[WARNING]  config : parsing [a.cfg:4:1] : nothing for 'a' there\n"
			    "  4\n"
			    "  ^\n");
	cfg_diag_fini(&d);
}

/* Files that lines name, such as a crt-list, are no configuration files. */
static void
lists_of_lines(void **state)
{
	struct cfg_diag d;
	struct cfg_where w = { .line = 1, .col = 1 };

	(void)state;
	cfg_diag_init(&d, 0);
	(void)cfg_diag_file(&d, "a.cfg", "x\n", 2);
	w.file = cfg_diag_list_file(&d, "l", "y\n", 2);
	cfg_diag_add(&d, CFG_ALERT, &w, "wrong");
	cfg_diag_summary(&d, out, sizeof(out));
	assert_string_equal(out, "a.cfg: 1 error (1 line), 0 warnings");
	(void)cfg_diag_file(&d, "b.cfg", "x\n", 2);
	cfg_diag_summary(&d, out, sizeof(out));
	assert_string_equal(out, "2 files: 1 error (1 line), 0 warnings");
	cfg_diag_fini(&d);
}

/* A line with an error has no notices; the same message keeps its other lines. */
static void
a_line_with_an_error_has_no_notices(void **state)
{
	struct cfg_diag d;
	struct cfg_where w = { .col = 1 };

	(void)state;
	cfg_diag_init(&d, 0);
	w.file = cfg_diag_file(&d, "a.cfg", "one\ntwo\nsix\n", 12);
	w.line = 1;
	cfg_diag_add(&d, CFG_NOTICE, &w, "no effect");
	cfg_diag_add(&d, CFG_ALERT, &w, "bad");
	cfg_diag_add(&d, CFG_NOTICE, &w, "only here");
	w.line = 2;
	cfg_diag_add(&d, CFG_NOTICE, &w, "no effect");
	cfg_diag_add(&d, CFG_WARNING, &w, "odd");
	assert_string_equal(printed(&d, 0),
			    "[NOTICE]   config : parsing [a.cfg:2:1] : no effect\n"
			    "  two\n"
			    "  ^\n"
			    "[ALERT]    config : parsing [a.cfg:1:1] : bad\n"
			    "  one\n"
			    "  ^\n"
			    "[WARNING]  config : parsing [a.cfg:2:1] : odd\n"
			    "  two\n"
			    "  ^\n");
	w.line = 3;
	cfg_diag_add(&d, CFG_NOTICE, &w, "no effect");
	assert_non_null(strstr(printed(&d, 0), "   | and 1 more line: 3\n"));
	cfg_diag_summary(&d, out, sizeof(out));
	assert_string_equal(out, "a.cfg: 1 error (1 line), 1 warning");
	cfg_diag_fini(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_have_their_form),
		cmocka_unit_test(messages_are_printed_as_json),
		cmocka_unit_test(only_alerts_are_fatal),
		cmocka_unit_test(numbers_and_lines_are_bounded),
		cmocka_unit_test(files_are_numbered),
		cmocka_unit_test(a_repeated_message_lists_its_places),
		cmocka_unit_test(messages_that_differ_in_a_name_are_one),
		cmocka_unit_test(lists_of_lines),
		cmocka_unit_test(a_line_with_an_error_has_no_notices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
