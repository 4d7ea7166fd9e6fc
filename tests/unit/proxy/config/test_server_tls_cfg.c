#include "unit/proxy/proxies_rig.h"

/* Every option, with values that are checked when the line is read. */
static const struct world_line lines[] = {
	{ "ssl verify none", NULL },
	{ "ssl verify required ca-file /x", NULL },
	{ "ssl verify optional", "'none' or 'required' expected" },
	{ "ssl no-ssl", NULL },
	{ "ssl sni str(a.test)", NULL },
	{ "ssl sni var(txn.x)", NULL },
	{ "ssl sni ssl_fc_sni", NULL },
	{ "ssl sni req.hdr(host)", "rules can put what it needs into a variable" },
	{ "ssl sni nothing", "nothing" },
	{ "sni", "<expression>" },
	{ "sni-auto no-sni-auto check-sni-auto no-check-sni-auto", NULL },
	{ "ssl sni-auto no-sni-auto", NULL },
	{ "check-ssl check-sni x check-alpn h2,x no-check-ssl", NULL },
	{ "check-alpn a,,b", "the name of a protocol has 1 to" },
	{ "alpn http/1.1 crl-file /x crt /y verifyhost z no-verifyhost", NULL },
	{ "ciphers A ciphersuites B curves C sigalgs D client-sigalgs E", NULL },
	{ "ssl-min-ver TLSv1.2 ssl-max-ver TLSv1.3 force-tlsv12 no-tlsv13", NULL },
	{ "no-tls-tickets tls-tickets no-ssl-reuse ssl-reuse", NULL },
	{ "ssl-min-ver 3", "'3' is no version" },
	{ "allow-0rtt tls-tickets", NULL },
	{ "npn x", NULL },
	{ "strict-sni", "unknown keyword" },
};

static void
test_options(void **state)
{
	(void)state;
	world_lines("backend b\n server s 127.0.0.1:1 ", lines, ARRAY_LEN(lines), "");
}

/* The defaults' options hold for each server, which can undo them. */
static void
test_defaults(void **state)
{
	struct world w;
	const struct server *s;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n default-server ssl verify none sni str(x)\n"
		       " server a 127.0.0.1:1\n server b 127.0.0.1:2 no-ssl\n");
	s = world_server(world_proxy(&w, "b"), 0);
	assert_true(s->conf.tls.is_on);
	assert_int_equal(s->conf.tls.set.verify, TLS_VERIFY_NONE);
	assert_non_null(s->sni);
	assert_false(s->sni_varies);
	s = world_server(world_proxy(&w, "b"), 1);
	/* TLS may be switched on. */
	assert_false(s->conf.tls.is_on);
	assert_true(s->conf.tls.is_off);
	assert_non_null(s->sni);
	assert_false(s->sni_varies);
	assert_false(s->sni_needs_request);
	world_fini(&w);
}

/* sni-auto stands for an expression, in mode http, unless the server has one of its own. */
static void
test_sni_auto(void **state)
{
	struct world w;
	const struct server *s;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n mode http\n"
		       " default-server ssl verify none sni-auto check-sni-auto\n"
		       " server a 127.0.0.1:1\n server b 127.0.0.1:2 sni str(x)\n"
		       " server c 127.0.0.1:3 no-sni-auto no-check-sni-auto\n");
	s = world_server(world_proxy(&w, "b"), 0);
	assert_true(s->sni && s->sni_needs_request && s->sni_varies);
	assert_true(s->conf.tls.check_sni_auto);
	s = world_server(world_proxy(&w, "b"), 1);
	assert_true(s->sni && !s->sni_needs_request && !s->sni_varies);
	s = world_server(world_proxy(&w, "b"), 2);
	assert_null(s->sni);
	assert_false(s->conf.tls.check_sni_auto);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_sni_auto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
