#include <stdlib.h>
#include <string.h>

#include "app/process/cli_line.h"
#include "unit/test.h"

static char in[CLI_INPUT_MAX + 1];

static size_t
command_len(const char *text, int eof, struct cli_scan *s)
{
	*s = (struct cli_scan){ .payload = 0 };
	return cli_line_len(text, strlen(text), eof, s);
}

static void
a_command_ends_with_its_payload(void **st)
{
	static const char whole[] = "add acl #1 <<\r\na\nb\r\n\nshow acl\n";
	size_t want = strlen("add acl #1 <<\r\na\nb\r\n\n"), len;
	char text[sizeof(whole)];
	struct cli_scan s;

	(void)st;
	strcpy(text, whole);
	len = command_len(text, 0, &s);
	assert_int_equal(len, want);
	assert_int_equal(s.payload, strlen("add acl #1 <<\r\n"));
	assert_int_equal(s.lines, 3);
	assert_string_equal(cli_line_begin(text, len, s.payload), "a\nb\r\n");
	assert_string_equal(text, "add acl #1 ");
	assert_int_equal(command_len("x <<\na\n", 1, &s), 0);
	assert_true(s.payload > 0);
	assert_int_equal(command_len("x", 0, &s), 0);
	assert_int_equal(command_len("x", 1, &s), 1);
	assert_int_equal(s.payload, 0);
	/* Byte by byte it is the same. */
	s = (struct cli_scan){ .payload = 0 };
	for (len = 0; len < want; len++)
		assert_int_equal(cli_line_len(whole, len, 0, &s), 0);
	assert_int_equal(cli_line_len(whole, len, 0, &s), want);
	assert_int_equal(s.lines, 3);
}

/* A line without a payload: complete or not, at the bound and one byte above it. */
static void
a_line_is_bounded(void **st)
{
	(void)st;
	memset(in, 'x', sizeof(in));
	assert_false(cli_line_is_long(in, 0, 0));
	assert_false(cli_line_is_long(in, CLI_LINE_MAX, 0));
	assert_true(cli_line_is_long(in, CLI_LINE_MAX + 1, 0));
	in[CLI_LINE_MAX - 1] = '\n';
	assert_false(cli_line_is_long(in, sizeof(in), CLI_LINE_MAX));
	in[CLI_LINE_MAX - 1] = 'x';
	in[CLI_LINE_MAX] = '\n';
	assert_true(cli_line_is_long(in, sizeof(in), CLI_LINE_MAX + 1));
}

/* With one it may be longer, but not the line itself. */
static void
a_payload_is_bounded(void **st)
{
	(void)st;
	memset(in, 'x', sizeof(in));
	in[CLI_LINE_MAX - 1] = '\n';
	assert_false(cli_line_is_long(in, CLI_LINE_MAX + CLI_PAYLOAD_MAX, 0));
	assert_false(cli_line_is_long(in, sizeof(in), CLI_LINE_MAX + CLI_PAYLOAD_MAX));
	assert_true(cli_line_is_long(in, CLI_LINE_MAX + CLI_PAYLOAD_MAX + 1, 0));
	assert_true(cli_line_is_long(in, sizeof(in), CLI_LINE_MAX + CLI_PAYLOAD_MAX + 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_ends_with_its_payload),
		cmocka_unit_test(a_line_is_bounded),
		cmocka_unit_test(a_payload_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
