#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "http-reuse never", NULL },
	{ "http-reuse safe", NULL },
	{ "http-reuse aggressive", NULL },
	{ "http-reuse always", NULL },
	{ "http-reuse sometimes", "'sometimes'" },
	{ "http-reuse", "never|safe|aggressive|always" },
	{ "http-reuse safe never", "unexpected argument 'never'" },
	{ "retry-on none", NULL },
	{ "retry-on conn-failure empty-response junk-response response-timeout", NULL },
	{ "retry-on 401 403 404 408 425 500 501 502 503 504", NULL },
	{ "retry-on all-retryable-errors", NULL },
	{ "retry-on 200", "unknown keyword '200'" },
	{ "retry-on none 503", "'none' cannot be combined with others" },
	{ "retry-on 503 none", "'none' cannot be combined with others" },
	{ "retry-on 0rtt-rejected 503", NULL },
	{ "retry-on bogus", "unknown keyword 'bogus'" },
	{ "retry-on", "<failure or status>" },
	{ "http-send-name-header X-Server", NULL },
	{ "http-send-name-header Host", NULL },
	{ "http-send-name-header", "<header>" },
	{ "http-send-name-header \"\"", "<header>" },
	{ "http-send-name-header X:Y", "'X:Y' is not a valid header name" },
	{ "http-send-name-header connection", "'connection' controls how the request is sent" },
	{ "http-send-name-header Content-Length", "would break it" },
	{ "http-send-name-header Transfer-Encoding", "would break it" },
	{ "http-send-name-header TE", "would break it" },
	{ "http-send-name-header Expect", "would break it" },
	{ "http-send-name-header X-A X-B", "unexpected argument 'X-B'" },
	{ "monitor-uri /alive", NULL },
	{ "monitor-uri", "<uri>" },
	{ "monitor fail if { path /x }", NULL },
	{ "monitor fail", "<condition>" },
	{ "monitor fail TRUE x", "'if' or 'unless' is expected" },
	{ "monitor-uri /a /b", "unexpected argument '/b'" },
	{ "option abortonclose", NULL },
	{ "no option abortonclose", NULL },
	{ "option abortonclose x", "unexpected argument 'x'" },
	{ "option http-buffer-request", NULL },
	{ "option http-ignore-probes", NULL },
	{ "option http-keep-alive", NULL },
	{ "option http-server-close", NULL },
	{ "no option httpclose", NULL },
	{ "option http-no-delay", NULL },
	{ "max-keep-alive-queue 0", NULL },
	{ "max-keep-alive-queue -1", NULL },
	{ "max-keep-alive-queue x", "'x'" },
	{ "max-keep-alive-queue", "<number>" },
	{ "option http-restrict-req-hdr-names delete", NULL },
	{ "option http-restrict-req-hdr-names reject x", "unexpected argument 'x'" },
	{ "option http-restrict-req-hdr-names", "preserve|delete|reject" },
	{ "option http-restrict-req-hdr-names keep", "'keep'" },
	{ "option h1-case-adjust-bogus-client", NULL },
	{ "option disable-h2-upgrade", NULL },
	{ "no option disable-h2-upgrade", NULL },
	{ "no option h1-case-adjust-bogus-server", NULL },
	{ "http-request early-hint Link x", NULL },
	{ "http-request early-hint Link", "<name> <fmt>" },
	{ "http-request early-hint a:b x", "'a:b' cannot be the name of a header" },
	{ "http-response early-hint Link x", "early-hint" },
	{ "option http-use-proxy-header", NULL },
	{ "option http-pretend-keepalive", NULL },
	{ "option http-reuse", "unknown" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n ", lines, ARRAY_LEN(lines), "");
}

/* The sections that each keyword is permitted in, as in HAProxy. */
static void
test_sections(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n http-reuse safe\n", 0,
		"'http-reuse' ignored because frontend 'f' has no backend capability");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n retry-on 503\n", -1, "retry-on");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n option abortonclose\n", 0,
		"'option abortonclose' ignored because frontend 'f' has no backend capability");
	world_reports(WORLD_DEFAULTS "backend b\n monitor-uri /\n", 0,
		"'monitor-uri' ignored because backend 'b' has no frontend capability");
	world_reports(WORLD_DEFAULTS "backend b\n option http-ignore-probes\n", 0,
		"'option http-ignore-probes' ignored because backend 'b'");
}

static enum http_persistence
persistence(const char *lines_of_l)
{
	char text[1024];
	struct world w;
	enum http_persistence got;

	(void)snprintf(text, sizeof(text),
		WORLD_DEFAULTS "listen l\n bind :80\n%s", lines_of_l);
	world_good(&w, text);
	got = world_proxy(&w, "l")->http.persistence;
	world_fini(&w);
	return got;
}

/* The last of the three options counts, and `no` only disables its own. */
static void
the_last_persistence_option_counts(void **state)
{
	(void)state;
	assert_int_equal(persistence(""), HTTP_KEEP_ALIVE);
	assert_int_equal(persistence(" option http-server-close\n"), HTTP_SERVER_CLOSE);
	assert_int_equal(persistence(" option httpclose\n"), HTTP_CLOSE);
	assert_int_equal(
		persistence(" option httpclose\n option http-server-close\n"), HTTP_SERVER_CLOSE);
	assert_int_equal(
		persistence(" option httpclose\n option http-keep-alive\n"), HTTP_KEEP_ALIVE);
	assert_int_equal(
		persistence(" option httpclose\n no option http-server-close\n"), HTTP_CLOSE);
	assert_int_equal(persistence(" option httpclose\n no option httpclose\n"), HTTP_KEEP_ALIVE);
}

#define BIT(id) (1u << HTTP_RETRY_##id)

static void
values_are_stored(void **state)
{
	struct world w;
	const struct proxy *p;

	(void)state;
	world_load(&w,
		WORLD_DEFAULTS
		" http-reuse always\n retry-on 503 empty-response\n monitor-uri /x\n"
		" option httpclose\n option abortonclose\n option http-buffer-request\n"
		" http-send-name-header X-A\n max-keep-alive-queue 3\n"
		" option prefer-last-server\n"
		"listen a\n bind :1\n"
		"listen b\n bind :2\n http-reuse never\n http-send-name-header X-B\n"
		"  retry-on all-retryable-errors\n"
		"  no option abortonclose\n  no option http-buffer-request\n"
		"  no option prefer-last-server\n"
		"frontend f\n bind :3\nbackend c\n retry-on none\n"
		"defaults\n timeout client 1\n timeout connect 1\n timeout server 1\n"
		"listen d\n bind :4\n");
	assert_int_equal(w.result, 0);
	p = world_proxy(&w, "a");
	assert_int_equal(p->http.reuse, HTTP_REUSE_ALWAYS);
	assert_int_equal(p->http.retry_on, BIT(503) | BIT(EMPTY_RESPONSE));
	assert_string_equal(p->http.monitor_uri, "/x");
	assert_int_equal(p->http.persistence, HTTP_CLOSE);
	assert_int_equal(p->options,
		OPT_ABORTONCLOSE | OPT_HTTP_BUFFER_REQUEST | OPT_PREFER_LAST_SERVER);
	assert_int_equal(p->http.max_ka_queue, 3);
	p = world_proxy(&w, "b");
	assert_int_equal(p->http.reuse, HTTP_REUSE_NEVER);
	assert_int_equal(p->http.retry_on,
		BIT(CONN_FAILURE) | BIT(EMPTY_RESPONSE) | BIT(JUNK_RESPONSE) |
			BIT(RESPONSE_TIMEOUT) | BIT(500) | BIT(502) | BIT(503) | BIT(504));
	assert_int_equal(p->options, 0);
	assert_string_equal(p->http.send_name, "X-B");
	assert_string_equal(world_proxy(&w, "a")->http.send_name, "X-A");
	assert_null(world_proxy(&w, "f")->http.send_name);
	assert_string_equal(world_proxy(&w, "c")->http.send_name, "X-A");
	assert_string_equal(world_proxy(&w, "f")->http.monitor_uri, "/x");
	assert_null(world_proxy(&w, "c")->http.monitor_uri);
	assert_int_equal(world_proxy(&w, "c")->http.retry_on, 0);
	p = world_proxy(&w, "d");
	assert_int_equal(p->http.reuse, HTTP_REUSE_SAFE);
	assert_int_equal(p->http.retry_on, BIT(CONN_FAILURE));
	assert_null(p->http.monitor_uri);
	assert_int_equal(p->http.max_ka_queue, -1);
	world_fini(&w);
}

/* In mode tcp they are ignored, with a warning if they are in the section itself. */
static void
in_mode_tcp_they_are_ignored(void **state)
{
	static const char *const given[][2] = { { "http-reuse", " safe" }, { "retry-on", " 503" },
		{ "monitor-uri", " /x" }, { "monitor fail", " if TRUE" },
		{ "option http-buffer-request", "" }, { "option http-ignore-probes", "" },
		{ "option prefer-last-server", "" }, { "option checkcache", "" },
		{ "option idle-close-on-response", "" },
		{ "option http-use-proxy-header", "" },
		{ "option accept-invalid-http-request", "" },
		{ "option accept-invalid-http-response", "" },
		{ "option accept-unsafe-violations-in-http-request", "" },
		{ "option accept-unsafe-violations-in-http-response", "" } };
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(given); i++) {
		char text[512], want[128];

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "listen l\n bind :80\n %s%s\n",
			given[i][0], given[i][1]);
		(void)snprintf(want, sizeof(want),
			"'%s' ignored for proxy 'l' as it requires HTTP mode.", given[i][0]);
		world_reports(text, 0, want);
	}
	world_good(&w, WORLD_DEFAULTS " http-reuse safe\n monitor-uri /x\n"
				      "listen l\n bind :80\n option http-server-close\n");
	world_fini(&w);
}

/* Nothing invalid is accepted, and the section has an error. */
static void
options_to_accept_invalid_messages_are_errors(void **state)
{
	static const char *const options[] = { "accept-invalid-http-request",
		"accept-invalid-http-response", "accept-unsafe-violations-in-http-request",
		"accept-unsafe-violations-in-http-response" };
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		char text[512], want[128];

		(void)snprintf(text, sizeof(text),
			WORLD_DEFAULTS "listen l\n bind :80\n option %s\n mode http\n", options[i]);
		(void)snprintf(want, sizeof(want), "'option %s' in proxy 'l': invalid messages are "
			"refused all the same.", options[i]);
		world_reports(text, 0, want);
		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS " option %s\n", options[i]);
		(void)snprintf(want, sizeof(want), "'option %s' : invalid messages are refused",
			options[i]);
		world_reports(text, 0, want);
		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS " mode http\nlisten l\n bind :8\n"
			" option %s\n no option %s\n", options[i], options[i]);
		world_good(&w, text);
		world_fini(&w);
	}
	world_reports(WORLD_DEFAULTS "frontend f\n bind :80\n"
		" option accept-invalid-http-response\n",
		0, "ignored because frontend 'f' has no backend capability");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(the_last_persistence_option_counts),
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(in_mode_tcp_they_are_ignored),
		cmocka_unit_test(options_to_accept_invalid_messages_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
