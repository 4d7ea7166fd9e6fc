/* The keywords of rules: arguments, sections, order and mode. */
#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "http-request deny", NULL },
	{ "http-request deny if { path / }", NULL },
	{ "http-request deny if nobody", "nobody" },
	{ "http-request", "<action>" },
	{ "http-request dney", "did you mean 'deny'" },
	{ "http-request normalize-uri x", "is not supported" },
	{ "http-request set-header X-A %[nothing]", "nothing" },
	{ "http-request set-header X-A b junk", "either 'if' or 'unless'" },
	{ "http-response set-header X-A %[status]", NULL },
	{ "http-response set-header X-A %[path]", "path" },
	{ "http-after-response set-status 500", NULL },
	{ "http-after-response deny", "is not for 'http-after-response'" },
	{ "redirect location /x", NULL },
	{ "redirect nowhere", "redirect" },
	{ "no http-request deny", "no" },
	{ "tcp-request connection reject if { src 10.0.0.1 }", NULL },
	{ "tcp-request connection expect-proxy layer4", NULL },
	{ "tcp-request connection expect-proxy layer4 if { src 10.0.0.1 }", NULL },
	{ "tcp-request session expect-proxy layer4", "is not for 'tcp-request session'" },
	{ "tcp-request connection expect-netscaler-cip layer4", "is not supported" },
	{ "tcp-request session accept", NULL },
	{ "tcp-request content reject if { path / }", NULL },
	{ "tcp-request content deny", "is not for 'tcp-request content'" },
	{ "tcp-request inspect-delay 5s", NULL },
	{ "tcp-request inspect-delay", "expects" },
	{ "tcp-request inspect-delay 5parsecs", "5parsecs" },
	{ "tcp-response content reject if { status 500 }", NULL },
	{ "tcp-response content reject if { res.len gt 5 }", NULL },
	{ "tcp-response inspect-delay 100", NULL },
};

static void
lines_are_read(void **st)
{
	(void)st;
	world_lines("listen l\n bind :80\n mode http\n ", lines, ARRAY_LEN(lines), "");
}

static void
assert_said(const char *text, int result, const char *says)
{
	struct world w;

	world_load(&w, text);
	if ((w.result == 0) != (result == 0) || (says && !strstr(w.printed, says)) ||
		(!says && w.printed[0]))
		fail_msg("%s\n=> %d %s", text, w.result, w.printed);
	world_fini(&w);
}

#define HTTP WORLD_DEFAULTS "frontend f\n bind :80\n mode http\n default_backend b\n"
#define BACKEND "backend b\n mode http\n"

static void
a_wrong_order_is_reported(void **st)
{
	(void)st;
	assert_said(HTTP " http-request deny if { path /a }\n redirect location /x if { path /b }\n"
			 " use_backend b if { path /c }\n" BACKEND, 0, NULL);
	assert_said(HTTP " redirect location /x if { path /b }\n http-request deny if { path /a }\n"
		BACKEND, 0, "a 'http-request' rule placed after a 'redirect' rule will still be "
			    "processed before.");
	assert_said(HTTP " use_backend b if { path /c }\n redirect location /x if { path /b }\n"
		BACKEND, 0, "a 'redirect' rule placed after a 'use_backend' rule");
	assert_said(HTTP " use_backend b if { path /c }\n http-response deny if { status 500 }\n"
		BACKEND, 0, NULL);
}

/* A rule after one that always ends the list is most likely a mistake. */
static void
unreachable_rules(void **st)
{
	static const char *const ends[] = { "allow", "deny", "tarpit", "return", "reject",
		"silent-drop", "auth", "redirect location /" };
	static const char *const more[] = { "set-header a b", "capture src len 9",
		"set-var(txn.a) src", "deny if { path /a }", "deny unless { path /a }" };
	char text[300];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		(void)snprintf(text, sizeof(text),
			HTTP " http-request %s\n http-request set-header a b\n" BACKEND, ends[i]);
		assert_said(text, 0,
			"previous 'http-request' action is final and has no condition attached");
	}
	for (size_t i = 0; i < ARRAY_LEN(more); i++) {
		(void)snprintf(text, sizeof(text),
			HTTP " http-request %s\n http-request set-header a b\n" BACKEND, more[i]);
		assert_said(text, 0, NULL);
	}
	/* A rule of another list. */
	assert_said(HTTP " http-request deny\n http-response set-header a b\n" BACKEND, 0, NULL);
}

static void
modes_and_sections(void **st)
{
	(void)st;
	assert_said(WORLD_DEFAULTS "listen l\n bind :80\n http-request deny\n", 0,
		"'http-request' rules ignored for proxy 'l': they need 'mode http'.");
	assert_said(WORLD_DEFAULTS " http-request deny\n", -1,
		"'http-request' not allowed in 'defaults' without a name");
	assert_said("defaults d\n mode http\n timeout client 1s\n http-request deny\n"
		"defaults e from d\n", -1, "cannot inherit from one that has rules");
	assert_said("defaults d\n mode http\n timeout client 1s\n http-request deny\n"
		"listen l from d\n bind :80\n timeout server 1s\n timeout connect 1s\n", -1,
		"it cannot be used by frontends and by backends");
	assert_said("defaults d\n mode http\n timeout client 1s\n acl a path /\n"
		" http-request deny if a\nfrontend f from d\n bind :80\n", 0, NULL);
}

static void
delays_are_inherited(void **st)
{
	struct world w;

	(void)st;
	world_good(&w, "defaults d\n timeout client 1s\n tcp-request inspect-delay 5s\n"
		       "frontend f from d\n bind :80\n"
		       "defaults e\n timeout server 1s\n timeout connect 1s\n"
		       " tcp-response inspect-delay 7\nbackend b from e\n server s 127.0.0.1:1\n");
	assert_int_equal(world_proxy(&w, "f")->rules.inspect_ms, 5000);
	assert_int_equal(world_proxy(&w, "b")->rules.inspect_ms, 0);
	assert_int_equal(world_proxy(&w, "b")->rules.inspect_response_ms, 7);
	world_fini(&w);
	assert_said(WORLD_DEFAULTS " tcp-request inspect-delay 5s\n", -1,
		"'tcp-request inspect-delay' not allowed in 'defaults' without a name");
	assert_said(WORLD_DEFAULTS "frontend f\n bind :80\n tcp-response inspect-delay 5s\n", -1,
		"has no backend capability");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(a_wrong_order_is_reported),
		cmocka_unit_test(unreachable_rules),
		cmocka_unit_test(modes_and_sections),
		cmocka_unit_test(delays_are_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
