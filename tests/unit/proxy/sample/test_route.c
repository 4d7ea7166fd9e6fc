#include "unit/proxy/proxies_rig.h"

#include "proxy/sample/eval.h"
#include "proxy/sample/route.h"
#include "proxy/config/vocab.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

#define FIFTY "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define TWO "backend a\n server s 127.0.0.1:1\nbackend b\n server s 127.0.0.1:1\n"

/* A client of the frontend f: returns the name of its backend, "-" for none. */
static const char *
route_of(struct world *w, const char *client)
{
	static struct engine e;
	static struct session sess;
	static struct stream s;
	struct addr_spec spec;
	const char *why;
	const struct proxy *be;

	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	e.shared = &e.alone;
	assert_int_equal(eval_scratch_init(&e.eval, 1024, NULL), 0);
	assert_int_equal(addr_parse(client, 0, &spec, &why), 0);
	s.engine = &e;
	s.sess->peer = spec.addr;
	s.sess->fe = world_proxy(w, "f");
	s.sess->listener = list_first(
		&world_bind(s.sess->fe, 0)->listeners, struct listener, link);
	be = route_backend(&s);
	assert_int_equal(e.eval.arena.used, 0);
	eval_scratch_fini(&e.eval);
	return be ? be->name : "-";
}

/* True if routing needs the fetches of connections. */
static int
looks_at_connection(const char *lines)
{
	struct rule_vocab v;

	proxy_vocab_init(&v);
	return (strstr(lines, "src") || strstr(lines, "dst") || strstr(lines, "LOCALHOST")) &&
		!rule_find_fetch(&v, STR("src"));
}

static void
the_first_rule_that_matches_routes(void **state)
{
	static const struct {
		const char *lines, *client, *want;
	} t[] = {
		{ "default_backend a", "10.0.0.1:5", "a" },
		{ "use_backend b\n default_backend a", "10.0.0.1:5", "b" },
		{ "use_backend b if { src 10.0.0.0/8 }\n default_backend a", "10.0.0.1:5", "b" },
		{ "use_backend b if { src 10.0.0.0/8 }\n default_backend a", "11.0.0.1:5", "a" },
		{ "use_backend b unless { src 10.0.0.0/8 }\n default_backend a", "11.0.0.1:5",
			"b" },
		{ "use_backend b if { src 10.0.0.0/8 }", "11.0.0.1:5", "-" },
		{ "use_backend b if { src_port 5 }\n default_backend a", "11.0.0.1:5", "b" },
		{ "use_backend b if { src_port 1:4 }\n default_backend a", "11.0.0.1:5", "a" },
		{ "use_backend b if { dst 127.0.0.9 }\n default_backend a", "11.0.0.1:5", "b" },
		{ "use_backend b if { dst_port 1234 }\n default_backend a", "11.0.0.1:5", "b" },
		{ "use_backend b if LOCALHOST\n default_backend a", "127.0.0.3:5", "b" },
		{ "acl x src 10.0.0.0/8\n acl x src 11.0.0.0/8\n use_backend b if x !LOCALHOST\n"
		  " use_backend a if TRUE",
			"11.0.0.1:5", "b" },
		/* the first rule that matches */
		{ "use_backend a if FALSE\n use_backend b if TRUE\n use_backend a", "1.1.1.1:1",
			"b" },
		{ "use_backend a if FALSE\n use_backend b\n default_backend a", "1.1.1.1:1", "b" },
		/* names from log formats */
		{ "use_backend b if { str(x) x }\n default_backend a", "1.1.1.1:1", "b" },
		{ "use_backend b unless { str(x) x }\n default_backend a", "1.1.1.1:1", "a" },
		{ "acl x str(1) 0\n acl x str(1) 1\n use_backend b if x !FALSE", "1.1.1.1:1", "b" },
		{ "use_backend %[str(nobody)] if TRUE\n use_backend b\n default_backend a",
			"1.1.1.1:1", "a" },
		{ "use_backend %[str(b)]\n default_backend a", "1.1.1.1:1", "b" },
		{ "use_backend %[src]\n default_backend a", "9.9.9.9:1", "9.9.9.9" },
		{ "use_backend %[src]\n default_backend a", "9.9.9.8:1", "a" },
		{ "use_backend n_%[src] if TRUE\n use_backend b\n default_backend a", "9.9.9.8:1",
			"a" },
		{ "use_backend %[src] if FALSE\n use_backend b\n default_backend a", "9.9.9.9:1",
			"b" },
		{ "use_backend %[src]\n use_backend b\n default_backend a", "9.9.9.8:1", "a" },
		{ "use_backend %[str(c)]", "9.9.9.8:1", "-" },
		{ "use_backend %[str(f)]\n default_backend a", "9.9.9.8:1", "a" },
		{ "use_backend %[str(off)]\n default_backend a", "9.9.9.8:1", "-" },
		{ "use_backend %[str(" FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY ")]\n default_backend a",
			"9.9.9.8:1", "a" },
		/* disabled: it has no servers */
		{ "use_backend off if TRUE\n default_backend a", "1.1.1.1:1", "-" },
		{ "use_backend b if { src_port 5 }\n default_backend off", "1.1.1.1:1", "-" },
	};
	char text[2048];
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *got;

		if (looks_at_connection(t[i].lines))
			continue;
		snprintf(text, sizeof(text),
			WORLD_DEFAULTS "frontend f\n bind 127.0.0.9:1234\n %s\n" TWO
				       "backend off\n disabled\nbackend 9.9.9.9\n", t[i].lines);
		world_load(&w, text);
		assert_int_equal(w.result, 0);
		got = route_of(&w, t[i].client);
		if (strcmp(got, t[i].want) != 0)
			fail_msg("%s: %s goes to %s", t[i].lines, t[i].client, got);
		world_fini(&w);
	}
}

/* Rules pass over backends that are not published, unless force-be-switch permits them. */
static void
unpublished_backends_are_passed_over(void **state)
{
	static const struct {
		const char *lines, *want;
	} t[] = {
		{ "use_backend hid\n use_backend b\n default_backend a", "b" },
		{ "use_backend hid if TRUE\n default_backend a", "a" },
		{ "use_backend b if FALSE\n use_backend hid if TRUE\n use_backend a if TRUE", "a" },
		{ "use_backend hid", "-" },
		{ "default_backend hid", "-" },
		{ "use_backend %[str(hid)]\n use_backend b", "b" },
		{ "use_backend %[str(nobody)]\n use_backend b\n default_backend a", "a" },
		{ "use_backend %[str(nobody)]\n use_backend b\n default_backend hid", "-" },
		{ "use_backend off\n use_backend b", "-" },
		{ "force-be-switch if TRUE\n use_backend hid\n default_backend a", "hid" },
		{ "force-be-switch if TRUE\n use_backend %[str(hid)]", "hid" },
		{ "force-be-switch if TRUE\n default_backend hid", "hid" },
		{ "force-be-switch if FALSE\n use_backend hid\n default_backend a", "a" },
		{ "force-be-switch if FALSE\n force-be-switch unless FALSE\n use_backend hid",
			"hid" },
		{ "acl in str(a) a\n force-be-switch if in\n use_backend hid", "hid" },
		/* a disabled backend is one that is not published then */
		{ "force-be-switch if TRUE\n use_backend off\n default_backend a", "off" },
		{ "force-be-switch if FALSE\n use_backend off\n default_backend a", "a" },
		{ "force-be-switch if TRUE\n use_backend lis\n default_backend a", "-" },
	};
	char text[2048];
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *got;

		snprintf(text, sizeof(text),
			WORLD_DEFAULTS "frontend f\n bind 127.0.0.9:1234\n %s\n" TWO
				       "backend off\n disabled\nbackend hid\n be-unpublished\n"
				       "listen lis\n disabled\n bind 127.0.0.9:1235\n", t[i].lines);
		world_load(&w, text);
		assert_int_equal(w.result, 0);
		got = route_of(&w, "1.1.1.1:1");
		if (strcmp(got, t[i].want) != 0)
			fail_msg("%s: goes to %s", t[i].lines, got);
		world_fini(&w);
	}
}

/* A listen section serves itself where its default backend is not published, also if others pass
 * over it. */
static void
a_listen_section_has_its_own_servers(void **state)
{
	struct world w;

	(void)state;
	world_load(&w, WORLD_DEFAULTS "listen f\n bind 127.0.0.9:1234\n be-unpublished\n"
		" use_backend hid\nbackend hid\n be-unpublished\n server s 127.0.0.1:1\n");
	assert_int_equal(w.result, 0);
	assert_string_equal(route_of(&w, "1.1.1.1:1"), "f");
	/* published at run time */
	world_proxy(&w, "hid")->unpublished = 0;
	assert_string_equal(route_of(&w, "1.1.1.1:1"), "hid");
	world_proxy(&w, "f")->unpublished = 0;
	proxies_note_unpublished(&w.proxies);
	assert_false(world_proxy(&w, "f")->passes_over);
	assert_string_equal(route_of(&w, "1.1.1.1:1"), "hid");
	world_proxy(&w, "hid")->unpublished = 1;
	proxies_note_unpublished(&w.proxies);
	assert_string_equal(route_of(&w, "1.1.1.1:1"), "f");
	world_fini(&w);
	world_load(&w, WORLD_DEFAULTS "listen f\n bind 127.0.0.9:1234\n default_backend hid\n"
		" server s 127.0.0.1:1\nbackend hid\n be-unpublished\n");
	assert_string_equal(route_of(&w, "1.1.1.1:1"), "f");
	world_fini(&w);
}

static void
lines_are_checked(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n force-be-switch\n", -1,
		"'force-be-switch' expects {if | unless} <condition>");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n force-be-switch if nope\n", -1,
		"no such ACL");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n force-be-switch TRUE x\n", -1,
		"'if' or 'unless' is expected");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n force-be-switch if { nbsrv(x) 1 }\n",
		-1, "'force-be-switch' : ");
	world_reports(WORLD_DEFAULTS "backend b\n force-be-switch if TRUE\n", 0, "frontend");
	world_reports(WORLD_DEFAULTS "backend b\n be-unpublished now\n", -1, "be-unpublished");
}

/* A frontend without rules has no list to run. */
static void
without_rules_there_is_no_list_to_run(void **state)
{
	static const struct {
		const char *lines;
		unsigned int n;
	} t[] = {
		{ "default_backend a", 0 },
		{ "use_backend b", 0 },
		{ "use_backend b if TRUE", 1 },
		{ "use_backend %[str(b)]\n use_backend a if TRUE", 1 },
		{ "use_backend b if TRUE\n use_backend a if TRUE\n use_backend a", 2 },
	};
	char text[1024];
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend f\n bind :1\n %s\n" TWO,
			t[i].lines);
		world_load(&w, text);
		assert_int_equal(w.result, 0);
		assert_int_equal(world_proxy(&w, "f")->n_routes, t[i].n);
		world_fini(&w);
	}
}

static void
bad_routes_are_refused(void **state)
{
#define FE WORLD_DEFAULTS "frontend f\n bind :1\n "
	(void)state;
	world_reports(FE "use_backend a if nope\n" TWO, -1, "no such ACL : 'nope'");
	world_reports(FE "use_backend a when TRUE\n" TWO, -1, "'if' or 'unless' is expected");
	world_reports(FE "use_backend c if TRUE\n" TWO, -1,
		"Proxy 'f': unable to find required use_backend: 'c'.");
	world_reports(FE "use_backend a\n use_backend b if TRUE\n" TWO, 0, "never reached");
	world_reports(FE "acl a/b always_true\n" TWO, -1, "not permitted in acl name");
	world_reports(WORLD_DEFAULTS " acl x always_true\n", -1, "without a name");
	world_reports("defaults d\n acl x always_true\n", 0, "");
	/* ACLs belong to one section */
	world_reports(
		"defaults d\n timeout client 1s\n acl x always_true\nfrontend f from d\n bind :1\n"
		" use_backend a if x\n" TWO,
		-1, "no such ACL : 'x'");
#undef FE
}

/* The values that HAProxy 2.6 shows in slim. */
static void
fullconn_is_a_tenth_of_what_may_come(void **state)
{
	static const struct {
		const char *name;
		int fullconn;
	} rows[] = { { "a", 18 }, { "b", 1 }, { "c", 7 }, { "own", 100 }, { "sent", 1 } };
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS
		"frontend f\n bind :1\n maxconn 55\n use_backend a if TRUE\n default_backend a\n"
		"frontend g\n bind :2\n maxconn 99\n use_backend a if FALSE\n"
		" use_backend %[src] if FALSE\n"
		"frontend off\n bind :3\n disabled\n default_backend a\n"
		"backend a\n server s 127.0.0.1:1\n"
		"backend b\n server s 127.0.0.1:1\n"
		"backend c\n fullconn 7\n server s 127.0.0.1:1\n"
		"listen own\n bind :4\n server s 127.0.0.1:1\n"
		"listen sent\n bind :5\n maxconn 19\n default_backend a\n");
	proxies_set_fullconn(&w.proxies, 1000);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(world_proxy(&w, rows[i].name)->fullconn, rows[i].fullconn);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_that_matches_routes),
		cmocka_unit_test(without_rules_there_is_no_list_to_run),
		cmocka_unit_test(unpublished_backends_are_passed_over),
		cmocka_unit_test(a_listen_section_has_its_own_servers),
		cmocka_unit_test(lines_are_checked),
		cmocka_unit_test(fullconn_is_a_tenth_of_what_may_come),
		cmocka_unit_test(bad_routes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
