#include "unit/proxy/proxies_rig.h"

static void
missing_timeouts_are_reported(void **state)
{
	static const struct {
		const char *text, *says;
	} t[] = {
		{ "listen a\n bind :1\n", "missing timeouts for proxy 'a'.\n   | " },
		{ "frontend a\n bind :1\n", "missing timeouts for frontend 'a'.\n   | " },
		{ "backend a\n server s :1\n",
			"missing timeouts for backend 'a'.\n   | " },
		{ WORLD_DEFAULTS "listen a\n bind :1\n timeout client 0\n", "for proxy 'a'" },
		{ WORLD_DEFAULTS "backend a\n server s :1\n timeout connect 0\n",
			"for backend 'a'" },
		{ WORLD_DEFAULTS "backend a\n server s :1\n timeout server 0\n",
			"for backend 'a'" },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		world_reports(t[i].text, 0, t[i].says);
	world_good(&w,
		"backend without-servers\nfrontend f\n bind :1\n timeout client 1\n"
		"listen l\n bind :1\n timeout client 1\nlisten off\n disabled\n");
	world_fini(&w);
}

static void
timeout_queue_defaults_to_connect(void **state)
{
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend a\nbackend b\n timeout queue 7s\n");
	assert_int_equal(world_proxy(&w, "a")->to.queue, 2000);
	assert_int_equal(world_proxy(&w, "b")->to.queue, 7000);
	world_fini(&w);
}

static void
a_frontend_without_bind_is_reported(void **state)
{
	(void)state;
	world_reports(
		WORLD_DEFAULTS "frontend f\n", 0, "frontend 'f' has no 'bind' directive. Please");
	world_reports(WORLD_DEFAULTS "listen f\n", 0, "proxy 'f' has no 'bind' directive. Please");
	world_reports(WORLD_DEFAULTS "listen f\n", 0, "[t.cfg:5:8]");
}

/* Errors that may be caused by a reported error are not reported. */
static void
consequences_of_an_error_are_not_reported(void **state)
{
	static const char *const texts[] = {
		WORLD_DEFAULTS "frontend f\n bind :1 sll\n",
		WORLD_DEFAULTS "frontend f\n bind :70000\n",
		WORLD_DEFAULTS "frontend f\n bnid :1\n",
		"defaults\n timeout client 1x\nlisten l\n bind :1\n",
		"listen l\n bind :1\n tiemout client 1s\n",
		WORLD_DEFAULTS "frontend f\n bind :1\n option tcplog\n log /dev/log local9\n",
		WORLD_DEFAULTS "frontend f\n bind :1\n default_backend b\n"
			       "backend b from no\n",
		WORLD_DEFAULTS "frontend f\n bind :1\n default_backend b\n"
			       "backedn b\n server s :1\n",
		WORLD_DEFAULTS "backend b\n mode http\n server s :1 weigth 1\n"
			       " use-server s if TRUE\n",
		WORLD_DEFAULTS "backend b\n source ::1:0\n server s 127.0.0.300:1\n",
		WORLD_DEFAULTS "frontend f\n bind :1\n acl a nonsense\n"
			       " use_backend b if a\nbackend b\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct world w;

		world_load(&w, texts[i]);
		if (w.result != -1 || w.diag.nentry != 1 || w.diag.entry[0].sev != CFG_ALERT)
			fail_msg("%s\n=> %d\n%s", texts[i], w.result, w.printed);
		world_fini(&w);
	}
}

static void
names_of_backends_become_targets(void **state)
{
	struct world w;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS "frontend none\n bind :1\n"
			       "frontend def\n bind :1\n default_backend b\n"
			       "frontend use\n bind :1\n default_backend b\n use_backend c\n"
			       "frontend off\n bind :1\n default_backend d\n"
			       "listen self\n bind :1\n"
			       "listen other\n bind :1\n default_backend self\n"
			       "backend b\nbackend c\nbackend d\n disabled\n");
	assert_null(world_proxy(&w, "none")->default_be);
	assert_null(world_proxy(&w, "off")->default_be);
	assert_string_equal(world_proxy(&w, "def")->default_be->name, "b");
	assert_string_equal(world_proxy(&w, "use")->default_be->name, "c");
	assert_string_equal(world_proxy(&w, "self")->default_be->name, "self");
	assert_string_equal(world_proxy(&w, "other")->default_be->name, "self");
	assert_null(world_proxy(&w, "b")->default_be);
	world_fini(&w);
}

static void
unknown_backends_are_errors(void **state)
{
	(void)state;
	world_reports("frontend f\n bind :1\n default_backend x\n", -1,
		"Proxy 'f': unable to find required default_backend: 'x'.");
	world_reports("frontend f\n bind :1\n default_backend f\n", -1,
		"Proxy 'f': unable to find required default_backend: 'f'.");
	world_reports("frontend f\n bind :1\n use_backend x\n", -1,
		"Proxy 'f': unable to find required use_backend: 'x'.");
	world_reports("frontend f\n bind :1\n use_backend b\n use_backend x\nbackend b\n", -1,
		"Proxy 'f': unable to find required use_backend: 'x'.");
	world_reports("listen f\n bind :1\n default_backend f\n", -1,
		"Proxy 'f': loop detected for default_backend: 'f'.");
	world_reports("listen f\n bind :1\n use_backend f\n", -1,
		"Proxy 'f': loop detected for use_backend: 'f'.");
	world_reports("defaults\n default_backend x\nfrontend f\n bind :1\n", -1, "[t.cfg:2:18]");
}

static void
port_offsets_stay_in_range(void **state)
{
	struct world w;

	(void)state;
	world_reports(WORLD_DEFAULTS "listen l\n bind :60000-60010\n server s 10.0.0.1:+6000\n", 0,
		"port 60000 of proxy 'l' maps to port 66000");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :10\n default_backend b\n"
				  "backend b\n server s 10.0.0.1:-10\n",
		0, "maps to port 0, which is out of range");
	world_good(&w,
		WORLD_DEFAULTS "listen l\n bind :60000,/x,fd@3\n server s 10.0.0.1:+5535\n"
			       " server t 10.0.0.1\n server u 10.0.0.1:-59999\n");
	world_fini(&w);
}

static void
sources_are_completed(void **state)
{
	struct world w;
	struct proxy *b;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS
		"backend b\n source 10.0.0.1 interface lo\n server s 10.1.1.1:1\n"
		" server t 10.1.1.1:1 source *\n server u 10.1.1.1:1 source *:80-81\n"
		" server v [::1]:1 source [::1]\n server w /x\n");
	b = world_proxy(&w, "b");
	assert_int_equal(addr_family(&world_server(b, 0)->conf.source.addr), AF_INET);
	assert_string_equal(world_server(b, 0)->conf.source.interface, "lo");
	assert_int_equal(world_server(b, 1)->conf.source.addr.len, 0);
	assert_string_equal(world_server(b, 1)->conf.source.interface, "");
	assert_int_equal(addr_family(&world_server(b, 2)->conf.source.addr), AF_INET);
	world_fini(&w);
	world_reports(WORLD_DEFAULTS "backend b\n server s 10.1.1.1:1 source [::1]\n", 0,
		"of different families");
}

static void
test_balance_is_ready(void **state)
{
	struct world w;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS "backend b\n server s :1\n server t :1 disabled\n"
			       " server u :1 weight 0\n server v :1 backup\n");
	assert_int_equal(proxy_usable_servers(world_proxy(&w, "b")), 1);
	world_fini(&w);
}

/* The names that expressions of a log format refer to. */
static void
names_in_a_log_format_must_exist(void **state)
{
#define LOGS WORLD_DEFAULTS "frontend f\n bind :1\n log 127.0.0.1 local0\n log-format "
	(void)state;
	world_reports(LOGS "%[nbsrv(none)]\n", -1,
		"[t.cfg:8:13] : failed to parse log-format : 'nbsrv': there is no such backend: "
		"'none', at byte 7 of '%[nbsrv(none)]'");
	world_reports(LOGS "%[nbsrv(b)]\nbackend b\n", 0, "");
#undef LOGS
}

/* Texts that are compiled when all sections are known mean the table and servers of theirs. */
static void
names_of_own_tables_and_servers_are_left_out(void **state)
{
#define LISTEN                                                                                    \
	WORLD_DEFAULTS "listen l\n bind :1\n log stdout user\n"                                   \
		       " stick-table type ip size 10 store conn_cnt\n server s :1\n"
	static const char *const good[] = {
		"log-format %[src_conn_cnt]%[srv_conn(s)]",
		"log-format %[src,table_conn_cnt]",
		"error-log-format %[src_conn_cnt]%[srv_conn(s)]",
		"log-format-sd %[src_conn_cnt]",
		"unique-id-format %[src_conn_cnt]%[srv_conn(s)]",
		"server t :1 ssl verify none sni src_conn_cnt",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		(void)snprintf(text, sizeof(text), LISTEN " %s\n", good[i]);
		world_reports(text, 0, "");
	}
	world_reports(LISTEN " log-format %[srv_conn(t)]\nbackend b\n server t :1\n", -1,
		"'srv_conn': the backend has no such server: 't'");
#undef LISTEN
}

static void
names_in_disabled_sections_may_be_unknown(void **state)
{
	static const char *const lines[] = {
		"tcp-request connection reject if { nbsrv(none) gt 0 }",
		"unique-id-format %[nbsrv(none)]",
		"stick on src table none",
		"use-server none if TRUE",
		"balance hash nbsrv(none)",
		"log stdout user\n log-format %[nbsrv(none)]",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		(void)snprintf(text, sizeof(text),
			WORLD_DEFAULTS "listen l\n bind :1\n server s :1\n %s\n", lines[i]);
		world_reports(text, -1, "none");
		(void)snprintf(text, sizeof(text),
			WORLD_DEFAULTS "listen l\n disabled\n bind :1\n server s :1\n %s\n",
			lines[i]);
		world_reports(text, 0, "");
	}
}

/* The place is that of the ACL, used or not, also in a defaults section. */
static void
names_in_acls_must_exist(void **state)
{
#define FRONTEND WORLD_DEFAULTS "frontend f\n bind :1\n"
	(void)state;
	world_reports(FRONTEND " acl a nbsrv(none) gt 0\n", -1,
		"[t.cfg:7:8] : acl 'a' : 'nbsrv': there is no such backend: 'none'.");
	world_reports(FRONTEND " acl a always_true\n acl a http_auth(none)\n"
			       " tcp-request connection reject if a\n",
		-1, "[t.cfg:8:8] : acl 'a' : 'http_auth': there is no such userlist: 'none'.");
	world_reports("defaults named\n disabled\n acl a table_cnt(none) gt 0\n", -1,
		"[t.cfg:3:8] : acl 'a' : 'table_cnt': there is no such stick-table: 'none'.");
	world_reports(FRONTEND " acl a nbsrv(b) gt 0\nbackend b\n", 0, "");
	world_reports(FRONTEND " disabled\n acl a nbsrv(none) gt 0\n", 0, "");
#undef FRONTEND
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_timeouts_are_reported),
		cmocka_unit_test(timeout_queue_defaults_to_connect),
		cmocka_unit_test(a_frontend_without_bind_is_reported),
		cmocka_unit_test(consequences_of_an_error_are_not_reported),
		cmocka_unit_test(names_of_backends_become_targets),
		cmocka_unit_test(unknown_backends_are_errors),
		cmocka_unit_test(port_offsets_stay_in_range),
		cmocka_unit_test(sources_are_completed),
		cmocka_unit_test(names_in_a_log_format_must_exist),
		cmocka_unit_test(names_of_own_tables_and_servers_are_left_out),
		cmocka_unit_test(names_in_acls_must_exist),
		cmocka_unit_test(names_in_disabled_sections_may_be_unknown),
		cmocka_unit_test(test_balance_is_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
