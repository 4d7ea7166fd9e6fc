/* Sections resolvers: their lines, their defaults, and the default section. */
#include "base/err.h"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "nameserver n 127.0.0.1:53", NULL },
	{ "nameserver n udp@127.0.0.1:53", NULL },
	{ "nameserver n tcp@127.0.0.1:53", NULL },
	{ "nameserver n [::1]:53", NULL },
	{ "nameserver n", "<name> <address>:<port>" },
	{ "nameserver n 127.0.0.1", "'nameserver n' : '127.0.0.1' : the port is missing" },
	{ "nameserver n 127.0.0.1:53-54", "range" },
	{ "nameserver n unix@/x", "a unix socket is not acceptable here" },
	{ "nameserver n 127.0.0.1:53 maxconn 2", "the option 'maxconn' is not supported" },
	{ "nameserver m 127.0.0.1:54",
		"nameserver 'm' has same name as another nameserver (declared at t.cfg:6)" },
	{ "hold nx 1s", NULL },
	{ "hold valid 0", NULL },
	{ "hold x 1s", "hold" },
	{ "hold nx", "hold nx" },
	{ "hold nx x", "unexpected character" },
	{ "timeout resolve 5s", NULL },
	{ "timeout retry 100", NULL },
	{ "timeout retry 0", "timeout retry" },
	{ "timeout x 1s", "timeout" },
	{ "resolve_retries 1", NULL },
	{ "resolve_retries 0", "resolve_retries" },
	{ "accepted_payload_size 12", NULL },
	{ "accepted_payload_size 65535", NULL },
	{ "accepted_payload_size 65536", "accepted_payload_size" },
	{ "accepted_payload_size 11", "accepted_payload_size" },
	{ "bind :80", "'bind'" },
};

static void
lines_say_what_is_wrong(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char text[2048];
		struct world w;

		(void)snprintf(text, sizeof(text),
			WORLD_DEFAULTS "resolvers r\n nameserver m 127.0.0.1:53\n %s\n",
			lines[i].line);
		world_load(&w, text);
		if (lines[i].error ? !strstr(w.printed, lines[i].error) : w.printed[0] != '\0')
			fail_msg("%s\n=> %s\nexpected: %s", text, w.printed,
				lines[i].error ? lines[i].error : "nothing");
		assert_int_equal(w.result, lines[i].error ? -1 : 0);
		world_fini(&w);
	}
}

static void
sections_have_names_and_servers(void **st)
{
	(void)st;
	world_reports("resolvers r\nresolvers r\n", -1,
		"resolvers 'r' has same name as another resolvers (declared at t.cfg:1)");
	world_reports("resolvers\n", -1, "'resolvers'");
	world_reports("resolvers r\n", 0, "resolvers 'r' has no nameservers configured!");
}

static void
settings_are_stored(void **st)
{
	const struct resolvers *res;
	const struct dns_nameserver *ns;
	char text[ADDR_TEXT];
	struct world w;

	(void)st;
	world_good(&w,
		"resolvers r\n nameserver a 127.0.0.1:5353\n nameserver b tcp@[::1]:53\n"
		" hold nx 1\n hold timeout 2\n hold refused 3\n hold other 4\n"
		" hold valid 5\n hold obsolete 6\n"
		" resolve_retries 7\n timeout resolve 8\n timeout retry 9\n"
		" accepted_payload_size 100\n"
		"resolvers q\n nameserver a 127.0.0.1:53\n");
	res = proxies_find_resolvers(&w.proxies, "r");
	assert_non_null(res);
	assert_int_equal(res->hold_ms[HOLD_NX], 1);
	assert_int_equal(res->hold_ms[HOLD_TIMEOUT], 2);
	assert_int_equal(res->hold_ms[HOLD_REFUSED], 3);
	assert_int_equal(res->hold_ms[HOLD_OTHER], 4);
	assert_int_equal(res->hold_ms[HOLD_VALID], 5);
	assert_int_equal(res->hold_ms[HOLD_OBSOLETE], 6);
	assert_int_equal(res->retries, 7);
	assert_int_equal(res->resolve_ms, 8);
	assert_int_equal(res->retry_ms, 9);
	assert_int_equal(res->payload, 512);
	assert_int_equal(res->n_nameservers, 2);
	ns = resolvers_find_nameserver(res, "b");
	assert_string_equal(addr_text(&ns->addr, text), "[::1]:53");
	assert_true(ns->is_stream);
	assert_false(resolvers_find_nameserver(res, "a")->is_stream);
	res = proxies_find_resolvers(&w.proxies, "q");
	assert_int_equal(res->hold_ms[HOLD_NX], 30000);
	assert_int_equal(res->hold_ms[HOLD_VALID], 10000);
	assert_int_equal(res->hold_ms[HOLD_OBSOLETE], 0);
	assert_int_equal(res->retries, 3);
	assert_int_equal(res->resolve_ms, 1000);
	assert_null(proxies_find_resolvers(&w.proxies, "default"));
	world_fini(&w);
}

/* A section of that name in the configuration is used. */
static void
the_default_section_is_not_replaced(void **st)
{
	const struct resolvers *res;
	struct world w;

	(void)st;
	world_good(&w, "resolvers default\n nameserver mine 127.0.0.1:53\n");
	assert_int_equal(resolvers_add_default(&w.proxies, &w.sys), 0);
	res = proxies_find_resolvers(&w.proxies, "default");
	assert_int_equal(res->n_nameservers, 1);
	assert_false(res->is_implicit);
	world_fini(&w);
	/* Otherwise it is created if there is a file with name servers. */
	world_good(&w, "resolvers r\n nameserver mine 127.0.0.1:53\n");
	assert_int_equal(resolvers_add_default(&w.proxies, &w.sys), 0);
	res = proxies_find_resolvers(&w.proxies, "default");
	assert_true(!res || (res->is_implicit && res->n_nameservers));
	world_fini(&w);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_say_what_is_wrong),
		cmocka_unit_test(sections_have_names_and_servers),
		cmocka_unit_test(settings_are_stored),
		cmocka_unit_test(the_default_section_is_not_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
