#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "capture request header Host len 10", NULL },
	{ "capture request header Host len 65535", NULL },
	{ "capture request header Host len 65536", "out of range (1..65535)" },
	{ "capture request header Host len 0", "out of range (1..65535)" },
	{ "capture request header Host len 5x", "not an integer" },
	{ "capture request header Host length 5", "expects 'len', not 'length'" },
	{ "capture request header Host", "<name> len <length>" },
	{ "capture request header Host len 5 x", "unexpected argument 'x'" },
	{ "capture response header Server len 10", NULL },
	{ "capture cookie SID len 10", NULL },
	{ "capture cookie SID= len 63", NULL },
	{ "capture cookie '' len 63", "expects a name" },
	{ "capture cookie SID 10", "<name> len <length>" },
	{ "declare capture request len 5", NULL },
	{ "declare capture response len 5", NULL },
	{ "declare capture both len 5", "'both' is not one of request, response" },
	{ "declare capture request 5", "request|response len <length>" },
	{ "declare slot request len 5", "unknown keyword" },
};

static struct world w;

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n ", lines, ARRAY_LEN(lines), "");
}

static void
test_sections(void **state)
{
	(void)state;
	world_reports(
		"defaults\n capture request header Host len 10\n", -1, "capture request header");
	world_reports("defaults\n declare capture request len 10\n", -1, "declare capture");
	world_reports(WORLD_DEFAULTS "backend b\n capture cookie A len 3\n", 0,
		"'capture cookie' ignored because backend 'b' has no frontend capability");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n capture cookie A len 3\n", 0,
		"'capture cookie' ignored for frontend 'f': it needs 'mode http'");
}

#define NAMED "defaults d\n mode http\n timeout client 1s\n timeout connect 1s\n" \
	" timeout server 1s\n http-request capture req.hdr(a) len 7\n"

/* The slots of a named defaults section are the first ones of each frontend. */
static void
test_defaults_have_slots(void **state)
{
	const struct proxy *f;

	(void)state;
	world_load(&w, NAMED " http-request capture req.hdr(b) id 0\n"
		"frontend f from d\n bind :80\n declare capture request len 9\n"
		" http-request capture req.hdr(c) id 1\n"
		"frontend g from d\n bind :81\n");
	assert_int_equal(w.result, 0);
	f = proxies_find(&w.proxies, "f", PROXY_FE);
	assert_int_equal(f->captures.n[CAPTURE_REQUEST], 2);
	assert_int_equal(f->captures.slot[CAPTURE_REQUEST][0].max, 7);
	assert_int_equal(f->captures.slot[CAPTURE_REQUEST][1].max, 9);
	f = proxies_find(&w.proxies, "g", PROXY_FE);
	assert_int_equal(f->captures.n[CAPTURE_REQUEST], 1);
	world_fini(&w);
	world_reports(NAMED "backend b from d\n server s 127.0.0.1:1\n", -1,
		"only frontends have captures");
}

static void
test_cookies_are_cut(void **state)
{
	const struct proxy *f;

	(void)state;
	world_load(&w, WORLD_DEFAULTS " mode http\nfrontend f\n bind :80\n"
		" capture cookie A len 3\n capture cookie B len 100\n"
		" capture request header X len 9\n");
	assert_int_equal(w.result, 0);
	assert_non_null(strstr(w.printed, "truncating capture length to 63 bytes"));
	f = proxies_find(&w.proxies, "f", PROXY_FE);
	assert_int_equal(f->captures.n[CAPTURE_COOKIE], 2);
	assert_string_equal(f->captures.slot[CAPTURE_COOKIE][1].name, "B");
	assert_int_equal(f->captures.slot[CAPTURE_COOKIE][0].max, 63);
	assert_int_equal(f->captures.slot[CAPTURE_COOKIE][1].max, 63);
	assert_int_equal(f->captures.size, 3 * sizeof(uint32_t) + 2 * 63 + 9);
	assert_int_equal(w.proxies.capture_size, f->captures.size);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_defaults_have_slots),
		cmocka_unit_test(test_cookies_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
