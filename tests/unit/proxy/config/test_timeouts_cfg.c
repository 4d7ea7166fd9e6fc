#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "client 0", NULL },
	{ "client 1", NULL },
	{ "client 2147483647", NULL },
	{ "client 24d", NULL },
	{ "client 1us", NULL },
	{ "client 5m", NULL },
	{ "client -1", "-1" },
	{ "client 2147483648", "2147483648" },
	{ "client 4294967296", "4294967296" },
	{ "client 9223372036854775808", "9223372036854775808" },
	{ "client 1e99", "1e99" },
	{ "client 10x", "10x" },
	{ "client 25d", "25d" },
	{ "client", "expects an integer value" },
	{ "client 1 2", "unexpected argument '2'" },
	{ "client-fin 5s", NULL },
	{ "connect 5s", NULL },
	{ "check 5s", NULL },
	{ "queue 5s", NULL },
	{ "server 5s", NULL },
	{ "server-fin 5s", NULL },
	{ "http-request 5s", NULL },
	{ "http-keep-alive 5s", NULL },
	{ "tarpit 5s", NULL },
	{ "tunnel 5s", NULL },
	{ "tunnel 5x", "5x" },
	{ "clietn 5s", "did you mean 'timeout client'" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n timeout ", lines, ARRAY_LEN(lines), "");
}

/* Each timeout has a field of its own, and the section's own line overrides the defaults. */
static void
test_fields(void **state)
{
	struct world w;
	const struct proxy_timeouts *to;

	(void)state;
	world_good(&w,
		"defaults\n timeout client 1\n timeout connect 2\n timeout server 3\n"
		" timeout client-fin 4\n timeout server-fin 5\n timeout queue 6\n timeout check 7\n"
		" timeout http-request 8\n timeout http-keep-alive 9\n timeout tarpit 10\n"
		" timeout tunnel 11\n"
		"listen a\n bind :1\n"
		"listen b\n bind :1\n timeout server 30s\n timeout client-fin 40s\n");
	to = &world_proxy(&w, "a")->to;
	assert_int_equal(to->client, 1);
	assert_int_equal(to->connect, 2);
	assert_int_equal(to->server, 3);
	assert_int_equal(to->client_fin, 4);
	assert_int_equal(to->server_fin, 5);
	assert_int_equal(to->queue, 6);
	assert_int_equal(to->check, 7);
	assert_int_equal(to->http_request, 8);
	assert_int_equal(to->http_keep_alive, 9);
	assert_int_equal(to->tarpit, 10);
	assert_int_equal(to->tunnel, 11);
	to = &world_proxy(&w, "b")->to;
	assert_int_equal(to->client, 1);
	assert_int_equal(to->server, 30000);
	assert_int_equal(to->client_fin, 40000);
	world_fini(&w);
}

/* Timeouts of the other side are ignored with a warning; for old names the error gives the new
 * one. */
static void
test_misplaced(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n timeout server 1\n", 0,
		"'timeout server' ignored because frontend 'f' has no backend capability");
	world_reports(WORLD_DEFAULTS "backend b\n timeout client 1\n", 0,
		"'timeout client' ignored because backend 'b' has no frontend capability");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n timeout tunnel 1\n", 0,
		"'timeout tunnel' ignored because frontend 'f' has no backend capability");
	world_reports("defaults\n contimeout 5\n", -1, "use 'timeout connect'");
	world_reports("defaults\n clitimeout 5\n", -1, "use 'timeout client'");
	world_reports("defaults\n srvtimeout 5\n", -1, "use 'timeout server'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_misplaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
