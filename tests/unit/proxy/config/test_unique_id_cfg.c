#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "unique-id-format %{+X}o\\ %ci:%cp_%fi:%fp_%Ts_%rt:%pid", NULL },
	{ "unique-id-format %[req.hdr(x)]-%r-%hr-%ID-%[unique-id]", NULL },
	{ "unique-id-format", "<format>" },
	{ "unique-id-format %ci %cp", "unexpected argument '%cp'" },
	{ "unique-id-format %foo", "failed to parse unique-id : no variable is called '%foo'" },
	{ "unique-id-format %[res.hdr(x)]", "'res.hdr' cannot be used here: it needs a response" },
	{ "unique-id-format 'a\\tb'", NULL },
	{ "unique-id-format \"a\\x01b\"", "control characters are not allowed" },
	{ "unique-id-header", "<name>" },
	{ "unique-id-header X:ID", "'X:ID' is not a valid header name" },
	{ "unique-id-header Content-Length", "'Content-Length' is not a valid header name" },
	{ "unique-id-header host", "'host' is not a valid header name" },
	{ "unique-id-header ''", "<name>" },
};

static struct world w;

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n mode http\n ", lines, ARRAY_LEN(lines), "");
}

static void
test_modes_and_sections(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "backend b\n unique-id-format %ci\n", 0,
		"'unique-id-format' ignored because backend 'b' has no frontend capability");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n unique-id-format %r\n", -1,
		"variable '%r' is reserved for mode http");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n unique-id-format %[nbsrv(x)]\n", -1,
		"failed to parse unique-id");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n unique-id-format %ci\n"
				  " unique-id-header x\n",
		0, "'unique-id-header' ignored for frontend 'f': it needs 'mode http'");
}

/* A backend with the same defaults ignores it. */
static void
test_inherited(void **state)
{
	const struct proxy *f, *b;

	(void)state;
	world_good(&w, WORLD_DEFAULTS " mode http\n unique-id-format %ci\n unique-id-header X\n"
				      "frontend f\n bind :80\n"
				      "backend b\n server s 10.0.0.1:80\n");
	f = world_proxy(&w, "f");
	b = world_proxy(&w, "b");
	assert_non_null(f->unique_id.fmt);
	assert_string_equal(f->unique_id.header, "X");
	assert_int_equal(f->captures.n[CAPTURE_ID], 1);
	assert_int_equal(f->captures.slot[CAPTURE_ID][0].max, UNIQUE_ID_MAX);
	assert_null(b->unique_id.fmt);
	assert_int_equal(b->captures.size, 0);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_modes_and_sections),
		cmocka_unit_test(test_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
