/* The keywords of health checks. Which lines are errors was compared with HAProxy 2.6; where it
 * accepts what means nothing (a port "x", a TLS option without TLS), here there is an error. */
#include "unit/proxy/proxies_rig.h"

#define BACKEND "backend b\n server s 10.0.0.1:80 check\n "

/* --- methods --- */

static const struct world_line methods[] = {
	{ "option httpchk", NULL },
	{ "option httpchk /x", NULL },
	{ "option httpchk GET /x", NULL },
	{ "option httpchk GET /x HTTP/1.1", NULL },
	{ "option httpchk GET /x HTTP/1.1 more",
		"7:33] : 'option httpchk' cannot handle unexpected "
		"argument 'more'" },
	{ "option httpchk GET /x HTTP/1.1\\r\\nHost:\\ a\\r\\n\\r\\nbody", NULL },
	{ "option httpchk GET /x HTTP/1.1\\r\\nfoo",
		"7:24] : 'option httpchk' : unable to parse the "
		"request" },
	{ "no option httpchk", "option httpchk" },
	{ "option tcp-check", NULL },
	{ "option tcp-check x", "unexpected argument 'x'" },
	{ "option mysql-check", NULL },
	{ "option mysql-check user x", NULL },
	{ "option mysql-check user x post-41", NULL },
	{ "option mysql-check user x pre-41", NULL },
	{ "option mysql-check user", "7:21] : 'option mysql-check' : 'user <name>' is expected" },
	{ "option mysql-check user \"\"", "'user <name>' is expected" },
	{ "option mysql-check foo", "'user <name>' is expected" },
	{ "option mysql-check user x foo",
		"7:28] : 'option mysql-check' : keyword 'foo' is unknown" },
	{ "option pgsql-check user x", NULL },
	{ "option pgsql-check", "user <name>" },
	{ "option pgsql-check foo x", "'user <name>' is expected" },
	{ "option redis-check", NULL },
	{ "option redis-check x", "unexpected argument 'x'" },
	{ "option smtpchk", NULL },
	{ "option smtpchk EHLO x", NULL },
	{ "option smtpchk EHLO x y", "unexpected argument 'y'" },
	{ "option ldap-check", NULL },
	{ "option ssl-hello-chk", NULL },
	{ "option external-check x", "unexpected argument 'x'" },
	{ "no option external-check", "option external-check" },
	{ "option external-check", "unable to find required 'global.external-check'" },
	{ "option external-check", "unable to find required 'external-check command'" },
	{ "external-check command /bin/true", NULL },
	{ "external-check command", "external-check command" },
	{ "external-check command \"\"",
		"7:24] : 'external-check command' expects <command>" },
	{ "external-check command /bin/true x", "unexpected argument 'x'" },
	{ "external-check path /bin:/usr/bin", NULL },
	{ "external-check path", "external-check path" },
	{ "external-check bogus", "external-check" },
	{ "option log-health-checks", NULL },
	{ "no option log-health-checks", NULL },
	{ "timeout check 5s", NULL },
};

static void
methods_load_or_are_refused(void **state)
{
	(void)state;
	world_lines(BACKEND, methods, ARRAY_LEN(methods), "");
}

/* --- http-check --- */

static const struct world_line http_rules[] = {
	{ "comment x", NULL },
	{ "comment", "http-check comment" },
	{ "disable-on-404", NULL },
	{ "disable-on-404 x", "unexpected argument 'x'" },
	{ "send-state", NULL },
	{ "bogus", "7:13] : 'http-check' : unknown rule 'bogus'" },
	{ "connect", NULL },
	{ "connect default port 80 addr 1.2.3.4 linger comment x", NULL },
	{ "connect port 0", "7:26] : 'http-check connect': '0' is out of range" },
	{ "connect port 65536", "'65536' is out of range" },
	{ "connect port 80x", "80x" },
	{ "connect port var(check.p)", NULL },
	{ "connect port src_port", "'src_port' cannot be used here: it needs a connection" },
	{ "connect port", "7:25] : 'http-check connect' : 'port' expects an argument" },
	{ "connect addr 1.2.3.4:80", NULL },
	{ "connect addr ::1", "::1" },
	{ "connect proto h1", NULL },
	{ "connect proto none", "protocol 'none' is not supported here ('h1' and 'h2' are)" },
	{ "connect proto h2", NULL },
	{ "connect ssl sni a.test alpn http/1.1,x", NULL },
	{ "connect ssl sni", "7:28] : 'http-check connect' : 'sni' expects an argument" },
	{ "connect alpn a,,b",
		"7:26] : 'http-check connect' : 'alpn' : 'a,,b' : the name of a protocol has" },
	{ "connect via-socks4", NULL },
	{ "connect bogus", "unknown argument 'bogus'" },
	{ "send", NULL },
	{ "send meth GET uri / ver HTTP/1.1 hdr a b body c comment d", NULL },
	{ "send uri-lf /%[int(1)] body-lf %[int(1)] hdr a %[srv_name]%[be_name]", NULL },
	{ "send hdr a", "'hdr' expects two arguments" },
	{ "send hdr Host x hdr host y",
		"7:33] : 'http-check send' : there is a 'Host' header already" },
	{ "send hdr a %[foo]", "7:24] : 'http-check send' : unknown fetch 'foo'" },
	{ "send hdr Content-Length 5 hdr Transfer-Encoding x", NULL },
	{ "send hdr \"a b\" c", "'a b' cannot be the name of a header" },
	{ "send meth \"\"", "'meth' expects an argument" },
	{ "send body \"\"", "'body' expects an argument" },
	{ "send bogus", "7:18] : 'http-check send' : unknown argument 'bogus'" },
	{ "expect", "http-check expect" },
	{ "expect status 200", NULL },
	{ "expect status 200,201,300-310,,", NULL },
	{ "expect !status 200", NULL },
	{ "expect ! status 200", NULL },
	{ "expect status 200-", "7:27] : 'http-check expect' : '200-' is not a list of statuses" },
	{ "expect status 299-200", "'299-200' is not a list" },
	{ "expect status 2xx", "'2xx' is not a list" },
	{ "expect status", "'status' expects an argument" },
	{ "expect status 200 201", "7:31] : 'http-check expect' : unknown argument '201'" },
	{ "expect rstatus ^2", NULL },
	{ "expect rstatus (", "7:28] : 'http-check expect' : bad regular expression" },
	{ "expect string a", NULL },
	{ "expect string a string b", "7:29] : 'http-check expect' : only one match pattern" },
	{ "expect string \"\"", "'string' expects an argument" },
	{ "expect min-recv -1 string a", NULL },
	{ "expect min-recv -2 string a", "'-2' is out of range" },
	{ "expect ok-status L7OKC string a", NULL },
	{ "expect ok-status L7STS string a", "'L7STS' is not one of L7OK, L7OKC, L6OK, L4OK" },
	{ "expect error-status L4CON string a", NULL },
	{ "expect error-status L7OK string a", "'L7OK' is not one of" },
	{ "expect tout-status L6TOUT string a", NULL },
	{ "expect tout-status L4CON string a", "'L4CON' is not one of" },
	{ "expect on-success \"a %[status]\" on-error %[res.hdr(a)] status 200", NULL },
	{ "expect on-error %[fe_conn] status 200",
		"'fe_conn' cannot be used here without a name: it needs a connection" },
	{ "expect on-error %[src] status 200", "'src' cannot be used here: it needs a connection" },
	{ "expect on-error %ci status 200", "no variable is called '%ci'" },
	{ "expect status-code res.hdr_cnt(a) status 200 comment x", NULL },
	{ "expect status-code foo status 200",
		"7:32] : 'http-check expect' : unknown fetch 'foo'" },
	{ "expect hdr name a", NULL },
	{ "expect hdr name -m beg a value -m reg ^b comment x", NULL },
	{ "expect fhdr name-lf %[int(1)] value-lf x", NULL },
	{ "expect hdr name-lf -m reg ^a", "a regular expression cannot be a format" },
	{ "expect hdr a", "7:24] : 'http-check expect' : 'hdr' expects 'name' or 'name-lf'" },
	{ "expect hdr name", "'name' expects a pattern" },
	{ "expect hdr name a value", "'value' expects a pattern" },
	{ "expect hdr name -m foo a", "'foo' is not one of str, beg, end, sub, reg" },
	{ "expect ! comment x",
		"7:22] : 'http-check expect' : '!' is not supported with 'comment'" },
	{ "expect binary 00", "unknown argument 'binary'" },
	{ "set-var(check.a) int(1)", NULL },
	{ "set-var(check.a,ifnotexists) var(check.b)", NULL },
	{ "set-var(sess.a) status", NULL },
	{ "set-var(proc.a) res.hdr(b)", NULL },
	{ "set-var(txn.a) int(1)",
		"7:13] : 'http-check' : variable 'txn.a': the scopes proc, sess and "
		"check" },
	{ "set-var(check.a,foo) int(1)", "unexpected 'foo'" },
	{ "set-var(check.a)", "'http-check set-var' expects an expression" },
	{ "set-var(check.a) int(1) x", "unexpected argument 'x'" },
	{ "set-var(check.a int(1)", "')' is missing" },
	{ "set-var(check.a) req.hdr(b)", "'req.hdr' cannot be used here: it needs a request" },
	{ "set-var-fmt(check.a) x%H", NULL },
	{ "unset-var(check.a)", NULL },
	{ "unset-var(check.a,ifexists)", "unexpected 'ifexists'" },
	{ "unset-var(check.a) x", "unexpected argument 'x'" },
};

static void
http_check_rules_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n option httpchk\n http-check ", http_rules, ARRAY_LEN(http_rules),
		" server s 10.0.0.1:80 check\n");
}

/* --- tcp-check --- */

static const struct world_line tcp_rules[] = {
	{ "connect", NULL },
	{ "connect proto none", NULL },
	{ "connect proto h1", "protocol 'h1' is not supported here ('none' is)" },
	{ "send x", NULL },
	{ "send x comment y", NULL },
	{ "send \"\"", "'tcp-check send' expects <text>" },
	{ "send \"\" comment x", "'tcp-check send' expects a text" },
	{ "send", "'tcp-check send' expects" },
	{ "send x y", "7:19] : 'tcp-check send' : unknown argument 'y'" },
	{ "send x comment", "'comment' expects an argument" },
	{ "send-lf %H%b%s%pid%t%T%Tl%Ts%ms%si%sp%[int(1)]", NULL },
	{ "send-lf %[foo]", "unknown fetch 'foo'" },
	{ "send-binary 0a0D", NULL },
	{ "send-binary 0", "7:24] : 'tcp-check send-binary' : an even number" },
	{ "send-binary 0g", "'g' is not a hexadecimal digit" },
	{ "send-binary-lf 0%[int(1)]", NULL },
	{ "send-binary-lf zz", NULL },
	{ "expect string x", NULL },
	{ "expect ! binary 0a", NULL },
	{ "expect binary 0", "an even number" },
	{ "expect binary 0x", "'x' is not a hexadecimal digit" },
	{ "expect rbinary 0A", NULL },
	{ "expect rbinary (", "bad regular expression" },
	{ "expect rstring ^x", NULL },
	{ "expect string-lf x%[int(1)]", NULL },
	{ "expect binary-lf 0%[int(1)]", NULL },
	{ "expect status 200", "7:19] : 'tcp-check expect' : unknown argument 'status'" },
	{ "expect comment x", "a match with its pattern is missing" },
	{ "set-var(check.a) int(1)", NULL },
	{ "bogus", "unknown rule 'bogus'" },
	{ "", "'tcp-check' expects" },
};

static void
tcp_check_rules_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n option tcp-check\n tcp-check ", tcp_rules, ARRAY_LEN(tcp_rules),
		" server s 10.0.0.1:80 check\n");
}

/* --- order --- */

#define TCP(lines) "backend b\n option tcp-check\n" lines " server s 10.0.0.1:80 check\n"
#define HTTP(lines) "backend b\n option httpchk\n" lines " server s 10.0.0.1:80 check\n"
#define FIRST "the first step must also be a 'connect'"

static void
the_order_of_rules_is_checked(void **state)
{
	static const struct {
		const char *text;
		const char *error; /* NULL: none */
	} all[] = {
		{ TCP(" tcp-check send x\n tcp-check connect\n"),
			"8:2] : 'tcp-check connect' : " FIRST },
		{ TCP(" tcp-check expect string x\n tcp-check connect\n"), FIRST },
		{ TCP(" tcp-check comment x\n tcp-check set-var(check.a) int(1)\n"
		      " tcp-check connect\n"),
			NULL },
		{ TCP(" tcp-check connect\n tcp-check send x\n tcp-check connect\n"), NULL },
		{ TCP(" tcp-check connect\n tcp-check connect\n"), NULL },
		{ HTTP(" http-check send\n http-check comment x\n http-check connect\n"), FIRST },
		{ HTTP(" http-check connect\n http-check send\n http-check expect status 200\n"
		       " http-check connect\n http-check send\n"),
			NULL },
		{ HTTP(" http-check expect status 200\n http-check send\n"),
			"8:2] : 'http-check send' : unable to add the rule at step 2 (missing "
			"connect rule)" },
		{ HTTP(" http-check connect\n http-check expect status 200\n"),
			"step 2 (missing send" },
		{ HTTP(" http-check connect\n http-check comment x\n http-check connect\n"),
			"step 3 (missing expect" },
		{ HTTP(" http-check send\n http-check send\n"), "step 2 (missing connect" },
		{ HTTP(" http-check expect status 200\n http-check expect string x\n"), NULL },
		{ HTTP(" http-check connect\n http-check set-var(check.x) int(1)\n"
		       " http-check send\n"
		       " http-check comment x\n http-check expect status 200\n"),
			NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "%s", all[i].text);
		world_reports(text, all[i].error ? -1 : 0, all[i].error ? all[i].error : "");
	}
}

/* --- rules without their method --- */

static void
rules_without_their_option_are_ignored(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS BACKEND "http-check expect status 200\n", 0,
		"backend 'b' uses http-check rules without 'option httpchk', so the rules are "
		"ignored.");
	world_reports(WORLD_DEFAULTS BACKEND "option mysql-check\n tcp-check send x\n", 0,
		"backend 'b' uses tcp-check rules without 'option tcp-check', so the rules are "
		"ignored.");
	world_reports(WORLD_DEFAULTS BACKEND "option tcp-check\n http-check disable-on-404\n", 0,
		"'disable-on-404' will be ignored for backend 'b' (requires 'option httpchk').");
	world_reports(WORLD_DEFAULTS BACKEND "option tcp-check\n http-check send-state\n", 0,
		"'send-state' will be ignored for backend 'b' (requires 'option httpchk').");
	world_reports(WORLD_DEFAULTS BACKEND "option httpchk GET / HTTP/1.1\\r\\nHost:\\ a\n", 0,
		"is deprecated");
	world_reports(WORLD_DEFAULTS BACKEND "http-check comment a b\n", 0,
		"only the first word is the comment");
	world_reports(
		WORLD_DEFAULTS BACKEND "option smtpchk FOO x\n", 0, "'HELO localhost' is sent");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n option httpchk\n", 0,
		"'option httpchk' ignored because frontend 'f' has no backend capability");
}

/* Variables of scope check are for checks, everything else is not. */
static void
the_scope_check_is_for_checks_only(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS
		"backend b\n mode http\n http-request set-var(check.a) int(1)\n",
		-1, "7:15] : 'http-request set-var' : variable 'check.a': the scope 'check' is");
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n http-request unset-var(check.a)\n",
		-1, "the scope 'check' is");
	world_reports(WORLD_DEFAULTS
		"backend b\n mode http\n http-request set-var(txn.a) var(check.a)\n",
		-1, "variables of scope 'check' are for health checks (byte 5 of 'var(check.a)')");
	world_reports(WORLD_DEFAULTS
		"backend b\n mode http\n http-request set-var(txn.a) str(a),concat(x,check.b)\n",
		-1, "variables of scope 'check' are for health checks");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_load_or_are_refused),
		cmocka_unit_test(http_check_rules_load_or_are_refused),
		cmocka_unit_test(tcp_check_rules_load_or_are_refused),
		cmocka_unit_test(the_order_of_rules_is_checked),
		cmocka_unit_test(rules_without_their_option_are_ignored),
		cmocka_unit_test(the_scope_check_is_for_checks_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
