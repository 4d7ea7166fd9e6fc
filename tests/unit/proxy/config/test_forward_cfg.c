#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "option forwardfor", NULL },
	{ "option forwardfor except 127.0.0.1", NULL },
	{ "option forwardfor except 10.0.0.0/8 header X-C if-none", NULL },
	{ "option forwardfor except ::1/128", NULL },
	{ "option forwardfor bogus",
		"only supports optional values: 'except', 'header' and 'if-none'" },
	{ "option forwardfor except foo", "expects <address>[/mask] as argument" },
	{ "option forwardfor except", "expects <address>[/mask] as argument" },
	{ "option forwardfor except 1.2.3.4/33", "expects <address>[/mask] as argument" },
	{ "option forwardfor header", "expects <header_name> as argument" },
	{ "option forwardfor header 'a b'", "is not a valid header name" },
	{ "no option forwardfor", "option forwardfor" },
	{ "option originalto", NULL },
	{ "option originalto header Q except 10.0.0.1", NULL },
	{ "option originalto if-none", "only supports optional values: 'except' and 'header'" },
	{ "option forwarded", NULL },
	{ "option forwarded proto host by by_port for for_port", NULL },
	{ "option forwarded by_port", "'by_port' requires 'by'" },
	{ "option forwarded for_port", "'for_port' requires 'for'" },
	{ "option forwarded for-expr src", "'for-expr' is not supported" },
	{ "option forwarded bogus", "bogus" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n ", lines, ARRAY_LEN(lines), "");
}

static void
values_are_stored(void **state)
{
	struct world w;
	const struct forward_conf *f;

	(void)state;
	world_load(&w, WORLD_DEFAULTS
		" option forwardfor header X-A if-none except 10.0.0.0/8\n option forwarded\n"
		"listen a\n bind :1\n option originalto\n"
		"listen b\n bind :2\n option forwardfor\n option forwarded by by_port\n"
		"frontend c\n bind :3\nbackend d\n");
	assert_int_equal(w.result, 0);
	f = &world_proxy(&w, "a")->forward;
	assert_true(f->to[FORWARD_FOR].on && f->to[FORWARD_FOR].if_none);
	assert_string_equal(f->to[FORWARD_FOR].header, "X-A");
	assert_int_equal(f->to[FORWARD_FOR].except.bits, 8);
	assert_true(f->to[FORWARD_ORIGINAL_TO].on);
	assert_int_equal(f->forwarded, FORWARDED_PROTO | FORWARDED_FOR);
	/* A later line replaces all settings of an earlier one. */
	f = &world_proxy(&w, "b")->forward;
	assert_true(f->to[FORWARD_FOR].on && !f->to[FORWARD_FOR].if_none);
	assert_null(f->to[FORWARD_FOR].header);
	assert_int_equal(f->to[FORWARD_FOR].except.family, 0);
	assert_false(f->to[FORWARD_ORIGINAL_TO].on);
	assert_int_equal(f->forwarded, FORWARDED_BY | FORWARDED_BY_PORT);
	assert_true(world_proxy(&w, "c")->forward.to[FORWARD_FOR].on);
	assert_true(world_proxy(&w, "d")->forward.to[FORWARD_FOR].on);
	world_fini(&w);
}

static void
test_mode(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "listen a\n bind :1\n option forwardfor\n", 0,
		"'option forwardfor' ignored for proxy 'a' as it requires HTTP mode.");
	world_reports(WORLD_DEFAULTS "backend a\n option forwarded\n", 0,
		"'option forwarded' ignored for proxy 'a' as it requires HTTP mode.");
	world_reports(WORLD_DEFAULTS "frontend a\n bind :1\n option forwarded\n", 0,
		"has no backend capability");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(test_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
