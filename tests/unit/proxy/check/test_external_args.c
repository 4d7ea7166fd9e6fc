/* Arguments and environment of external checks. What is expected was printed by the commands of
 * HAProxy 2.6. */
#define WORLD_BEGINS() (w->proxies.external_checks = 1)
#define WORLD_ENDS() ((void)0)
#include "unit/proxy/proxies_rig.h"

#include "proxy/check/external_args.h"
#include "proxy/check/external_msg.h"

#define EXTERNAL " option external-check\n external-check command /bin/check\n"

static struct world w;
static char msg[EXTERNAL_REQUEST_MAX];
static char printed[2048];

/* The request for the first server of the proxy p, as one text: arguments, then variables. */
static const char *
request_text(const char *config)
{
	struct external_request q;
	char text[2048];
	struct sbuf out, in;

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "%s", config);
	world_good(&w, text);
	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_args_write(world_server(world_proxy(&w, "p"), 0), 5, &out);
	assert_false(out.failed);
	assert_int_equal(external_msg_read(msg, out.len, &q), 0);
	assert_int_equal(q.id, 5);
	sbuf_init_fixed(&in, printed, sizeof(printed));
	for (int i = 0; q.args[i]; i++)
		sbuf_addf(&in, "%s|", q.args[i]);
	for (int i = 0; q.env[i]; i++) {
		int is_own = strncmp(q.env[i], "HAPROXY_", 8) == 0;

		sbuf_addf(&in, "\n%s", q.env[i] + (is_own ? 8 : 0));
	}
	world_fini(&w);
	return printed;
}

static void
a_listen_section_passes_its_address(void **state)
{
	(void)state;
	assert_string_equal(
		request_text("listen p\n id 55\n bind 127.0.0.1:18081\n bind :18082\n" EXTERNAL
			     " external-check path /usr/bin:/bin\n"
			     " server s 127.0.0.1:7001 check maxconn 7 id 9\n"),
		"/bin/check|127.0.0.1|18081|127.0.0.1|7001|"
		"\nPROXY_ADDR=127.0.0.1\nPROXY_ID=55\nPROXY_NAME=p\nPROXY_PORT=18081"
		"\nSERVER_ADDR=127.0.0.1\nSERVER_CURCONN=0\nSERVER_ID=9\nSERVER_MAXCONN=7"
		"\nSERVER_NAME=s\nSERVER_PORT=7001\nSERVER_PROTO=tcp\nSERVER_SSL=0"
		"\nPATH=/usr/bin:/bin");
}

/* The address of the check is not the one that is passed. */
static void
a_backend_passes_no_address(void **state)
{
	(void)state;
	assert_string_equal(
		request_text("backend p\n id 6\n mode http\n" EXTERNAL
			     " server s 127.0.0.1:7002 check port 8888 addr 127.0.0.5\n"),
		"/bin/check|NOT_USED|NOT_USED|127.0.0.1|7002|"
		"\nPROXY_ADDR=\nPROXY_ID=6\nPROXY_NAME=p\nPROXY_PORT="
		"\nSERVER_ADDR=127.0.0.1\nSERVER_CURCONN=0\nSERVER_ID=1\nSERVER_MAXCONN=0"
		"\nSERVER_NAME=s\nSERVER_PORT=7002\nSERVER_PROTO=h1\nSERVER_SSL=0"
		"\nPATH=");
}

static void
addresses_of_each_family_are_passed(void **state)
{
	static const struct {
		const char *bind, *server, *args;
	} all[] = {
		{ ":18088", "[::1]:7001", "/bin/check|0.0.0.0|18088|::1|7001|" },
		{ ":::18082", "1.2.3.4:7001", "/bin/check|::|18082|1.2.3.4|7001|" },
		{ "unix@/run/p.sock", "unix@/run/s.sock",
			"/bin/check|/run/p.sock|NOT_USED|/run/s.sock|NOT_USED|" },
		{ "abns@p", "abns@s", "/bin/check||NOT_USED||NOT_USED|" },
		{ "127.0.0.1:18085-18087,127.0.0.1:18084", "127.0.0.1:1",
			"/bin/check|127.0.0.1|18085|127.0.0.1|1|" },
	};
	char config[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		(void)snprintf(config, sizeof(config),
			"listen p\n bind %s\n" EXTERNAL " server s %s check port 1\n", all[i].bind,
			all[i].server);
		assert_int_equal(strncmp(request_text(config), all[i].args,
					 strlen(all[i].args)), 0);
	}
}

/* The protocol that is negotiated is not known: "h1". */
static void
the_protocol_and_ssl_are_passed(void **state)
{
	static const struct {
		const char *mode, *options, *variables;
	} all[] = {
		{ "http", "ssl verify none", "\nSERVER_PROTO=h1\nSERVER_SSL=1\n" },
		{ "http", "ssl verify none proto h2", "\nSERVER_PROTO=h2\nSERVER_SSL=1\n" },
		{ "http", "ssl verify none alpn h2,http/1.1", "\nSERVER_PROTO=h1\nSERVER_SSL=1\n" },
		{ "http", "proto h2", "\nSERVER_PROTO=h2\nSERVER_SSL=0\n" },
		{ "http", "proto h1", "\nSERVER_PROTO=h1\nSERVER_SSL=0\n" },
		{ "http", "check-ssl verify none", "\nSERVER_PROTO=h1\nSERVER_SSL=0\n" },
		{ "tcp", "ssl verify none", "\nSERVER_PROTO=tcp\nSERVER_SSL=1\n" },
		{ "tcp", "proto none", "\nSERVER_PROTO=tcp\nSERVER_SSL=0\n" },
	};
	char config[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		(void)snprintf(config, sizeof(config),
			"backend p\n mode %s\n" EXTERNAL " server s 127.0.0.1:1 check %s\n",
			all[i].mode, all[i].options);
		assert_non_null(strstr(request_text(config), all[i].variables));
	}
}

/* Numbers that change are those of now. */
static void
numbers_that_change_are_those_of_now(void **state)
{
	struct external_request q;
	struct sbuf out;
	struct server *s;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend p\n" EXTERNAL " server s 127.0.0.1:1 check\n");
	s = world_server(world_proxy(&w, "p"), 0);
	s->cur = 3;
	s->conf.maxconn = 12;
	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_args_write(s, 5, &out);
	assert_int_equal(external_msg_read(msg, out.len, &q), 0);
	assert_string_equal(q.env[5], "HAPROXY_SERVER_CURCONN=3");
	assert_string_equal(q.env[7], "HAPROXY_SERVER_MAXCONN=12");
	sbuf_init_fixed(&out, msg, 100);
	external_args_write(s, 5, &out);
	assert_true(out.failed);
	s->cur = 0;
	world_fini(&w);
}

/* The requirements of external checks, in HAProxy's words. */
static void
requirements_are_reported_in_haproxys_words(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "backend p\n option external-check\n", -1,
		"Proxy 'p' : 'option external-check' unable to find required 'external-check "
		"command'.");
	world_reports(WORLD_DEFAULTS "backend p\n option external-check\n"
				     " external-check command true\n",
		-1, "Proxy 'p': 'external-check command' does not have a leading '/' and "
		    "'external-check path' is not set.");
	world_reports(WORLD_DEFAULTS "backend p\n external-check command /bin/true\n", 0,
		"'external-check command' will be ignored for backend 'p' (requires 'option "
		"external-check').");
	world_reports(WORLD_DEFAULTS "backend p\n external-check path /bin\n", 0,
		"'external-check path' will be ignored for backend 'p' (requires");
	world_good(&w, WORLD_DEFAULTS EXTERNAL "backend p\n server s 127.0.0.1:1 check\n");
	assert_int_equal(world_proxy(&w, "p")->check.method, CHECK_EXTERNAL);
	assert_string_equal(world_proxy(&w, "p")->check.command, "/bin/check");
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_listen_section_passes_its_address),
		cmocka_unit_test(a_backend_passes_no_address),
		cmocka_unit_test(addresses_of_each_family_are_passed),
		cmocka_unit_test(the_protocol_and_ssl_are_passed),
		cmocka_unit_test(numbers_that_change_are_those_of_now),
		cmocka_unit_test(requirements_are_reported_in_haproxys_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
