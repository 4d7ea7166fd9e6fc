#include "unit/proxy/proxies_rig.h"

#define NUMBER(kw)                                                                              \
	{ kw " 0", NULL }, { kw " 7", NULL }, { kw " 2147483647", NULL }, { kw " -1", "'-1'" }, \
		{ kw " 2147483648", "2147483648" }, { kw " 4294967296", "4294967296" },         \
		{ kw " 9223372036854775808", "9223372036854775808" }, { kw " 1e99", "1e99" },   \
		{ kw " 10x", "10x" }, { kw, "<number>" },                                       \
	{                                                                                       \
		kw " 1 2", "unexpected argument '2'"                                            \
	}

#define SWITCH(name)                                                                             \
	{ "option " name, NULL }, { "no option " name, NULL }, { "default option " name, NULL }, \
	{                                                                                        \
		"option " name " x", "unexpected argument 'x'"                                   \
	}

static const struct world_line lines[] = {
	NUMBER("maxconn"),
	NUMBER("backlog"),
	NUMBER("fullconn"),
	{ "retries 0", NULL },
	{ "retries 65535", NULL },
	{ "retries 65536", "65536" },
	{ "retries -1", "'-1'" },
	{ "retries x", "'x'" },
	{ "no retries", "not supported" },
	{ "id 1", NULL },
	{ "id 2147483647", NULL },
	{ "id 0", "'0'" },
	{ "id -1", "'-1'" },
	{ "id 2147483648", "2147483648" },
	{ "mode tcp", NULL },
	{ "mode http", NULL },
	{ "mode health", "'mode health' is not supported ('tcp' or 'http' expected): use "
		"'monitor-uri'" },
	{ "mode log", "'mode log' is not supported ('tcp' or 'http' expected): 'log' lines" },
	{ "mode udp", "unknown proxy mode 'udp'" },
	{ "mode", "'mode' expects { tcp" },
	{ "mode tcp x", "unexpected argument 'x'" },
	{ "description what it is for", NULL },
	{ "description", "<text>" },
	{ "disabled", NULL },
	{ "disabled x", "unexpected argument 'x'" },
	{ "enabled", NULL },
	SWITCH("allbackups"),
	SWITCH("clitcpka"),
	SWITCH("srvtcpka"),
	SWITCH("tcpka"),
	SWITCH("nolinger"),
	SWITCH("tcp-smart-accept"),
	SWITCH("tcp-smart-connect"),
	{ "clitcpka-cnt 0", NULL },
	{ "clitcpka-cnt 127", NULL },
	{ "clitcpka-cnt 3s", "'3s'" },
	{ "clitcpka-cnt", "<count>" },
	{ "clitcpka-idle 32767", NULL },
	{ "clitcpka-idle 10m", NULL },
	{ "clitcpka-intvl 3x", "'x'" },
	{ "no clitcpka-intvl 3", "clitcpka-intvl" },
	{ "srvtcpka-cnt 5", NULL },
	{ "srvtcpka-intvl 500ms", NULL },
	{ "option redispatch", NULL },
	{ "option redispatch 3", NULL },
	{ "option redispatch -65535", NULL },
	{ "option redispatch 65536", "65536" },
	{ "option redispatch x", "'x'" },
	{ "option redispatch 1 2", "unexpected argument '2'" },
	{ "no option redispatch", NULL },
	{ "option contstats", NULL },
	{ "option persist", NULL },
	{ "option socket-stats", NULL },
	{ "option splice-auto", NULL },
	{ "no option splice-auto", NULL },
	{ "option http_proxy", "was removed in HAProxy 2.5: use 'http-request set-dst'" },
	{ "option tcpak", "did you mean 'option tcpka'" },
	{ "option", "one more word" },
	{ "default_backend other", NULL },
	{ "default_backend", "<backend>" },
	{ "default_backend other x", "unexpected argument 'x'" },
	{ "use_backend other", NULL },
	{ "use_backend other if TRUE", NULL },
	{ "use_backend other if", "'if' expects a condition" },
	{ "use_backend other TRUE", "'if' or 'unless' is expected" },
	{ "acl a str(x) y", NULL },
	{ "acl a", "acl" },
	{ "use_backend %[str(x)]", NULL },
	{ "use_backend b_%[srk]", "'srk'" },
	{ "use_backend %[str(x)", "use_backend" },
	{ "use_backend", "<backend>" },
	{ "bind", "<address>" },
	{ "use-fcgi-app a", "not supported" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n ", lines, ARRAY_LEN(lines), "backend other\n");
}

static void
values_are_stored(void **state)
{
	struct world w;
	const struct proxy *p;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS
		"listen l\n bind :80\n maxconn 5\n backlog 6\n fullconn 7\n"
		" retries 8\n id 9\n description a  b\n option redispatch 10\n disabled\n");
	p = world_proxy(&w, "l");
	assert_int_equal(p->maxconn, 5);
	assert_int_equal(p->backlog, 6);
	assert_int_equal(p->fullconn, 7);
	assert_int_equal(p->retries, 8);
	assert_int_equal(p->id, 9);
	assert_string_equal(p->description, "a b");
	assert_int_equal(p->redispatch_every, 10);
	assert_int_equal(p->disabled, 1);
	assert_int_equal(p->where.line, 5);
	assert_int_equal(p->where.col, 8);
	world_fini(&w);
}

static void
sections_have_their_capabilities(void **state)
{
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "frontend f\n bind :1\nbackend b\nlisten l\n bind :2\n");
	assert_int_equal(world_proxy(&w, "f")->caps, PROXY_FE);
	assert_int_equal(world_proxy(&w, "b")->caps, PROXY_BE);
	assert_int_equal(world_proxy(&w, "l")->caps, PROXY_FE | PROXY_BE);
	assert_int_equal(w.proxies.n, 3);
	assert_int_equal(world_proxy(&w, "f")->retries, 3);
	world_fini(&w);
	world_reports("frontend\n", -1, "expects an <id> argument");
	world_reports("frontend a/b\n", -1, "character '/' is not permitted");
	world_reports(WORLD_DEFAULTS "frontend f from x\n", -1, "defaults section 'x' not found");
}

/* All settings of the defaults apply to the proxy; later lines override them; named defaults are
 * selected. */
static void
settings_of_the_defaults_are_inherited(void **state)
{
	struct world w;
	const struct proxy *p;

	(void)state;
	world_load(&w,
		"defaults base\n timeout client 1s\n timeout connect 2s\n timeout server 3s\n"
		" maxconn 5\n backlog 6\n fullconn 7\n retries 8\n option redispatch 2\n"
		" balance first\n"
		" clitcpka-cnt 3\n clitcpka-idle 1500ms\n"
		" srvtcpka-intvl 1m\n srvtcpka-cnt 128\n srvtcpka-idle 1d\n"
		" option tcpka\n option nolinger\n default_backend b\n source 10.0.0.9\n disabled\n"
		" default-server weight 9 maxconn 10\n"
		"defaults next from base\n retries 80\n no option clitcpka\n enabled\n"
		"listen old from base\n bind :1\n server s 10.0.0.1:1\n"
		"listen new\n bind :1\n server s 10.0.0.1:1 maxconn 11\n balance random(4)\n"
		"backend b\n");
	assert_int_equal(w.result, 0);
	assert_non_null(strstr(w.printed,
		"proxy 'new' : 'default_backend' takes precedence over its servers"));
	assert_non_null(strstr(w.printed,
		"'srvtcpka-cnt' : '128' is not set: the kernel's maximum is 127."));
	assert_non_null(strstr(w.printed, "'srvtcpka-idle' : '1d' is not set"));
	p = world_proxy(&w, "old");
	assert_int_equal(p->to.server, 3000);
	assert_int_equal(p->maxconn, 5);
	assert_int_equal(p->backlog, 6);
	assert_int_equal(p->fullconn, 7);
	assert_int_equal(p->retries, 8);
	assert_int_equal(p->redispatch_every, 2);
	assert_int_equal(p->balance, BALANCE_FIRST);
	assert_int_equal(p->options, OPT_CLITCPKA | OPT_SRVTCPKA | OPT_NOLINGER | OPT_REDISPATCH);
	assert_int_equal(p->client_keepalive.count, 3);
	assert_int_equal(p->client_keepalive.idle, 2);
	assert_int_equal(p->client_keepalive.interval, 0);
	assert_int_equal(p->server_keepalive.count, 0);
	assert_int_equal(p->server_keepalive.interval, 60);
	assert_int_equal(p->disabled, 1);
	assert_string_equal(p->default_be_name, "b");
	p = world_proxy(&w, "new");
	assert_int_equal(p->retries, 80);
	assert_int_equal(p->options, OPT_SRVTCPKA | OPT_NOLINGER | OPT_REDISPATCH);
	assert_int_equal(p->no_options, OPT_CLITCPKA);
	assert_int_equal(p->disabled, 0);
	assert_int_equal(p->balance, BALANCE_RANDOM);
	assert_int_equal(p->balance_draws, 4);
	assert_int_equal(world_server((struct proxy *)p, 0)->conf.weight, 9);
	assert_int_equal(world_server((struct proxy *)p, 0)->conf.maxconn, 11);
	assert_int_equal(
		ntohl(world_server((struct proxy *)p, 0)->conf.source.addr.u.in.sin_addr.s_addr),
		0x0a000009);
	world_fini(&w);
}

static void
redispatch_has_an_interval(void **state)
{
	static const struct {
		const char *lines;
		unsigned int option;
		int every;
	} t[] = {
		{ "", 0, 0 },
		{ " option redispatch\n", OPT_REDISPATCH, -1 },
		{ " option redispatch -2\n", OPT_REDISPATCH, -2 },
		{ " option redispatch 1\n", OPT_REDISPATCH, 1 },
		{ " option redispatch 0\n", 0, 0 },
		{ " option redispatch 3\n no option redispatch\n", 0, 0 },
		{ " option redispatch 3\n default option redispatch\n", 0, 0 },
		{ " option redispatch 3\n option redispatch\n", OPT_REDISPATCH, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char text[256];
		struct world w;

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "backend b\n%s", t[i].lines);
		world_good(&w, text);
		assert_int_equal(world_proxy(&w, "b")->options, t[i].option);
		assert_int_equal(world_proxy(&w, "b")->redispatch_every, t[i].every);
		world_fini(&w);
	}
}

/* A setting that has no effect in its section causes a warning and is not kept. */
static void
settings_without_effect_are_not_kept(void **state)
{
	static const char *const fe[] = { "retries 3", "fullconn 3", "option redispatch",
		"option srvtcpka", "srvtcpka-cnt 3", "balance first", "source 1.2.3.4" };
	static const char *const be[] = { "maxconn 3", "backlog 3", "bind :80", "default_backend x",
		"use_backend x", "option clitcpka", "clitcpka-idle 3",
		"option tcp-smart-accept" };
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fe); i++) {
		(void)snprintf(
			text, sizeof(text), WORLD_DEFAULTS "frontend f\n bind :1\n %s\n", fe[i]);
		world_reports(text, 0, "has no backend capability");
	}
	for (size_t i = 0; i < ARRAY_LEN(be); i++) {
		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "backend b\n %s\n", be[i]);
		world_reports(text, 0, "has no frontend capability");
	}
	world_reports("defaults\n bind :80\n", -1, "'bind' not allowed in 'defaults'");
	world_reports("defaults\n use_backend x\n", -1, "'use_backend' not allowed in 'defaults'");
	world_reports("defaults\n id 3\n", -1, "'id' not allowed in 'defaults'");
	world_reports("frontend f\n bind :1\n server s :1\n", -1,
		"'server' not allowed because frontend");
}

static void
test_use_backend_twice(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n use_backend a\n use_backend b\n"
				  "backend a\nbackend b\n",
		0, "never reached");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(sections_have_their_capabilities),
		cmocka_unit_test(settings_of_the_defaults_are_inherited),
		cmocka_unit_test(redispatch_has_an_interval),
		cmocka_unit_test(settings_without_effect_are_not_kept),
		cmocka_unit_test(test_use_backend_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
