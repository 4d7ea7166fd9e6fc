/* The rules that a backend's checks have when the configuration is complete. */
#include "http/head.h"
#include "unit/proxy/proxies_rig.h"

static char *
describe(const struct check_conf *c)
{
	static const char letters[] = { [CHECK_RULE_CONNECT] = 'c',
		[CHECK_RULE_SEND] = 's',
		[CHECK_RULE_EXPECT] = 'e',
		[CHECK_RULE_SET_VAR] = 'v',
		[CHECK_RULE_UNSET_VAR] = 'u' };
	static char text[512];
	size_t n = 0;

	list_each(it, &c->rules) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%u%s%s", n ? " " : "",
			letters[r->kind], r->step, r->comment ? ":" : "",
			r->comment ? r->comment : "");
	}
	text[n] = '\0';
	return text;
}

static void
rules_are(const char *lines, const char *expected)
{
	char text[2048];
	struct world w;

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "%s server s 10.0.0.1:80 check\n", lines);
	world_load(&w, text);
	if (w.result != 0)
		fail_msg("%s\n%s", text, w.printed);
	assert_string_equal(describe(&world_proxy(&w, "b")->check), expected);
	world_fini(&w);
}

#define B "backend b\n"
#define TCP B " option tcp-check\n"
#define HTTP B " option httpchk\n"

/* Implied rules have step 0; comment lines count. */
static void
implied_rules_have_step_0(void **state)
{
	(void)state;
	rules_are(B, "c0");
	rules_are(TCP, "c0");
	rules_are(TCP " tcp-check send x\n tcp-check expect string y\n", "c0 s1 e2");
	rules_are(TCP " tcp-check connect\n tcp-check send x\n", "c1 s2");
	rules_are(TCP
		" tcp-check comment a\n tcp-check connect\n tcp-check comment b\n"
		" tcp-check send x\n tcp-check comment c\n tcp-check expect string x comment d\n",
		"c2:a s4:b e6:d");
	rules_are(TCP " tcp-check comment a\n tcp-check set-var(check.x) int(1)\n"
		      " tcp-check expect string x\n",
		"c0 v2:a e3");
	rules_are(TCP " tcp-check set-var(check.x) int(1)\n tcp-check connect\n"
		      " tcp-check unset-var(check.x)\n",
		"v1 c2 u3");
	rules_are(HTTP, "c0 s0 e0");
	rules_are(HTTP " http-check expect status 200\n", "c0 s0 e1");
	rules_are(HTTP " http-check send hdr a b\n", "c0 s1 e0");
	rules_are(HTTP " http-check connect\n", "c1 s0 e0");
	rules_are(HTTP
		" http-check connect\n http-check set-var(check.a) int(1)\n http-check send\n",
		"c1 v2 s3 e0");
	rules_are(HTTP " http-check set-var(check.a) int(1)\n http-check send\n", "c0 v1 s2 e0");
	rules_are(HTTP
		" http-check connect\n http-check send\n http-check expect status 200\n"
		" http-check set-var(check.a) int(1)\n http-check connect\n http-check send\n",
		"c1 s2 e3 v4 c5 s6 e0");
	rules_are(HTTP " http-check expect status 200\n http-check unset-var(check.a)\n",
		"c0 s0 e1 u2");
}

static void
options_become_rules(void **state)
{
	(void)state;
	rules_are(B " option mysql-check\n", "c1 e2");
	rules_are(B " option mysql-check user x\n", "c1 s2 e3 e4");
	rules_are(B " option pgsql-check user x\n", "c1 s2 e3");
	rules_are(B " option smtpchk\n", "c1 e2 s4 e5 s6 e7");
	rules_are(B " option redis-check\n", "c0 s1 e2");
	rules_are(B " option ldap-check\n", "c0 s1 e2");
	rules_are(B " option ssl-hello-chk\n", "c0 s1 e2");
	/* The last option applies, whatever the rules. */
	rules_are(TCP " tcp-check send x\n option redis-check\n", "c0 s1 e2");
	rules_are(HTTP " http-check send\n tcp-check send x\n option tcp-check\n", "c0 s1");
}

#define D "defaults\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"

/* Rules of a section replace those of its defaults section. */
static void
own_rules_replace_inherited_ones(void **state)
{
	struct world w;
	const struct check_conf *c;
	const struct check_rule *r;

	(void)state;
	rules_are(D " option httpchk\n http-check expect status 200\n" B, "c0 s0 e1");
	rules_are(D " option httpchk\n http-check expect status 200\n" B
		" http-check send\n http-check expect status 201\n http-check expect string a\n",
		"c0 s1 e2 e3");
	/* As in HAProxy they belong to the option of the defaults section. */
	rules_are(
		D " http-check expect status 200 comment x\n" B " option httpchk\n", "c0 s0 e0");
	rules_are(D " option httpchk GET /d\n http-check send uri /d\n"
		  " http-check expect status 404\n" B " option httpchk /b\n", "c0 s0 e0");
	rules_are(D B " http-check send\n option httpchk /b\n", "c0 s1 e0");
	rules_are(
		D " option httpchk\n http-check expect status 200\n" B " option tcp-check\n", "c0");
	rules_are(D " option httpchk\n http-check expect status 200\n" B " option redis-check\n",
		"c0 s1 e2");
	rules_are(D " option tcp-check\n tcp-check connect\n tcp-check send-lf %[be_name]\n" B,
		"c1 s2");
	world_good(&w, D " option httpchk GET /x HTTP/1.1\n http-check disable-on-404\n"
		" http-check send hdr a %[srv_name]\n option log-health-checks\n"
		"backend b\n server s 10.0.0.1:80 check\nbackend c\n option httpchk /y\n"
		" server s 10.0.0.1:80 check\n");
	c = &world_proxy(&w, "b")->check;
	assert_true(c->disable_on_404);
	assert_false(c->send_state);
	assert_true(world_proxy(&w, "b")->options & OPT_LOG_CHECKS);
	assert_string_equal(c->request.uri, "/x");
	r = list_entry(c->rules.next->next, const struct check_rule, link);
	assert_ptr_equal(r->u.send.request, &c->request);
	c = &world_proxy(&w, "c")->check;
	assert_string_equal(c->request.uri, "/y");
	assert_null(c->request.method);
	world_fini(&w);
}

/* The request of option httpchk is that of the first send only. */
static void
the_first_send_has_the_request_of_httpchk(void **state)
{
	struct world w;
	const struct check_rule *rules[6];
	const struct check_conf *c;
	size_t n = 0;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n option httpchk HEAD /x\n http-check connect\n"
		" http-check send\n http-check expect status 200\n http-check connect\n"
		" http-check send\n http-check expect status 200\n server s 10.0.0.1:80 check\n");
	c = &world_proxy(&w, "b")->check;
	list_each(it, &c->rules) {
		rules[n++] = list_entry(it, const struct check_rule, link);
	}
	assert_int_equal(n, 6);
	assert_ptr_equal(rules[1]->u.send.request, &c->request);
	assert_int_equal(rules[2]->u.expect.request_method, HTTP_HEAD);
	assert_null(rules[4]->u.send.request);
	assert_int_equal(rules[5]->u.expect.request_method, HTTP_OPTIONS);
	world_fini(&w);
}

/* Names in expressions are resolved when all is known, also in a defaults section. */
static void
names_in_expressions_are_resolved_at_the_end(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "backend b\n option tcp-check\n"
		" tcp-check send-lf %[str(a),map(/nonexistent)]\n server s 10.0.0.1:80 check\n",
		-1, "/nonexistent");
	world_reports(WORLD_DEFAULTS
		" option tcp-check\n tcp-check send-lf %[str(a),map(/nonexistent)]\n",
		-1, "/nonexistent");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(implied_rules_have_step_0),
		cmocka_unit_test(options_become_rules),
		cmocka_unit_test(own_rules_replace_inherited_ones),
		cmocka_unit_test(the_first_send_has_the_request_of_httpchk),
		cmocka_unit_test(names_in_expressions_are_resolved_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
