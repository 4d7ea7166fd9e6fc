/* Captures as HAProxy 2.6 logs them, except that cookies are escaped too. */
#include "unit/proxy/log_rig.h"

static struct log_world w;

static const char *
written(const char *format)
{
	return log_world_format(&w, format, 1);
}

static void
test_braces_and_lists(void **state)
{
	(void)state;
	capture_open(&w);
	assert_string_equal(written("%hr %hs %CC %CS"), "{|} {} - -");
	assert_string_equal(written("%{+Q}hr|%hrl|%hsl|%{+Q}hrl|%{+Q}CC"),
		"\"{|}\"|- -|-|\"\" \"\"|\"\"");
	capture_put(&w.s, CAPTURE_REQUEST, 0, STR("h"));
	capture_put(&w.s, CAPTURE_REQUEST, 1, STR(""));
	capture_put(&w.s, CAPTURE_RESPONSE, 0, STR("a, b"));
	capture_put(&w.s, CAPTURE_COOKIE, 1, STR("SID=2"));
	assert_string_equal(written("%hr %hs %CC %CS"), "{h|} {a, b} - SID=2");
	assert_string_equal(written("%hrl|%hsl|%{+Q}hrl %{+Q}hsl"), "h |a, b|\"h\" \"\" \"a, b\"");
	capture_close(&w);
}

static void
test_escapes(void **state)
{
	(void)state;
	capture_open(&w);
	capture_put(&w.s, CAPTURE_REQUEST, 0, STR("{|}\"#"));
	capture_put(&w.s, CAPTURE_REQUEST, 1, STR("\\]\t\xff\x7f~\n"));
	capture_put(&w.s, CAPTURE_COOKIE, 0, STR("{|\"#\x01"));
	assert_string_equal(written("%hr|%hrl|%CC"),
		"{#7B#7C#7D#22#23|\\]#09#FF#7F~#0A}|#7B#7C#7D#22#23 \\]#09#FF#7F~#0A|{|#22#23#01");
	assert_string_equal(written("%{+E}hr %{+E,+Q}hrl"),
		"{#7B#7C#7D#22#23|\\\\\\]#09#FF#7F~#0A} "
		"\"#7B#7C#7D#22#23\" \"\\\\\\]#09#FF#7F~#0A\"");
	capture_close(&w);
}

/* Nothing is logged if no request was parsed or no slot is declared. */
static void
test_nothing_to_say(void **state)
{
	(void)state;
	capture_open(&w);
	capture_txn.head_ms = 0;
	assert_string_equal(written("<%hr %hs %hrl %hsl %{+Q}hr %{+Q}hrl>%CC"), "< >-");
	capture_txn.head_ms = 1;
	capture_forget(&w.fe.captures, CAPTURE_RESPONSE);
	assert_string_equal(written("%hr %hs %hsl>"), "{|} >");
	/* In mode tcp the session has captures of its own. */
	w.fe.mode = PROXY_TCP;
	w.s.is_http = 0;
	w.s.txn = NULL;
	assert_string_equal(log_world_line(&w, "%hr"), "{|}");
	captures_end(&w.s);
	assert_string_equal(log_world_line(&w, "<%hr %hs>"), "< >");
	capture_close(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_braces_and_lists),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_nothing_to_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
