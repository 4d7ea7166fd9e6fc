#include "unit/proxy/proxies_rig.h"

#define AFTER " server s1 127.0.0.1:1 cookie a\n"

static const struct world_line lines[] = {
	{ "cookie SRV", NULL },
	{ "cookie SRV insert indirect nocache", NULL },
	{ "cookie SRV insert insert", NULL },
	{ "cookie SRV prefix indirect", NULL },
	{ "cookie SRV insert maxidle 30m maxlife 8h", NULL },
	{ "cookie SRV insert preserve postonly domain .a.b attr SameSite=None", NULL },
	{ "cookie", "<name>" },
	{ "cookie \"a b\"", "'a b' is not a valid cookie name" },
	{ "cookie a;b", "is not a valid cookie name" },
	{ "cookie SRV rewrite insert", "'rewrite', 'insert' and 'prefix' modes are incompatible" },
	{ "cookie SRV rewrite indirect", "cookie 'rewrite' and 'indirect' modes are incompatible" },
	{ "cookie SRV rewrite preserve", "'preserve' requires at least 'insert' or 'indirect'" },
	{ "cookie SRV insert maxidle", "'maxidle' expects a time" },
	{ "cookie SRV insert maxidle 30x", "30x" },
	{ "cookie SRV insert maxlife 99999999999", "99999999999" },
	{ "cookie SRV insert domain", "'domain' expects a value" },
	{ "cookie SRV insert domain a.b;c", "cannot be a cookie's domain" },
	{ "cookie SRV insert domain a%b.c", "'a%b.c' cannot be a cookie's domain" },
	{ "cookie SRV insert domain \"a b.c\"", "'a b.c' cannot be a cookie's domain" },
	{ "cookie SRV insert domain *.a.b", "'*.a.b' cannot be a cookie's domain" },
	{ "cookie SRV insert domain A-9_.b", NULL },
	{ "cookie SRV insert attr \"a;b\"", "cannot be a cookie's attribute" },
	{ "dynamic-cookie-key k", NULL },
	{ "dynamic-cookie-key", "<key>" },
	{ "dynamic-cookie-key a b", "unexpected argument 'b'" },
	{ "cookie SRV insert dynamic\n dynamic-cookie-key k", NULL },
	{ "cookie SRV insert foo", "'cookie' supports" },
	{ "force-persist if TRUE", NULL },
	{ "force-persist", "<condition>" },
	{ "force-persist TRUE x", "'if' or 'unless' is expected" },
	{ "ignore-persist unless { src 1.2.3.4 }", NULL },
	{ "ignore-persist if nope", "no such ACL" },
	{ "use-server s1 if TRUE", NULL },
	{ "use-server s1 unless { path /x }", NULL },
	{ "use-server %[path] if TRUE", NULL },
	{ "use-server %[nope] if TRUE", "'use-server' : " },
	{ "use-server s1", "<condition>" },
	{ "use-server s9 if TRUE", "unable to find server 's9'" },
	{ "persist rdp-cookie", NULL },
	{ "persist rdp-cookie(x)", NULL },
	{ "persist", "rdp-cookie[(<name>)]" },
	{ "persist rdp-cookie()", "the name of a cookie in parentheses" },
	{ "persist rdp-cookie(x", "the name of a cookie in parentheses" },
	{ "persist rdp-cookiex", "unknown method 'rdp-cookiex'" },
	{ "persist foo", "unknown method 'foo'" },
	{ "persist rdp-cookie x", "unexpected argument 'x'" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n mode http\n ", lines, ARRAY_LEN(lines), AFTER);
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n persist rdp-cookie\n" AFTER, 0,
		"'persist rdp-cookie' will be ignored for backend 'b' (needs 'mode tcp')");
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n balance rdp-cookie\n" AFTER, 0,
		"'balance rdp-cookie' is roundrobin without 'mode tcp'");
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n cookie S insert domain x\n" AFTER, 0,
		"domain 'x' contains no embedded dot");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n use-server a if TRUE\n", -1,
		"'use-server'");
}

static void
values_are_stored(void **state)
{
	const struct persist_conf *c;
	struct world w;

	(void)state;
	world_load(&w, WORLD_DEFAULTS " mode http\n cookie D insert secure maxlife 8h\n"
		"backend a\n"
		"backend b\n cookie E prefix\n cookie SRV insert indirect nocache secure attr x=y"
		" domain .a.b httponly postonly preserve maxidle 1500ms domain .c.d attr z\n"
		"backend c\n cookie SRV\n");
	assert_int_equal(w.result, 0);
	assert_non_null(strstr(w.printed, "'cookie' overrides line 9."));
	c = &world_proxy(&w, "a")->persist;
	assert_string_equal(c->name, "D");
	assert_int_equal(c->way, PERSIST_INSERT);
	assert_string_equal(c->attrs, "; Secure");
	assert_int_equal(c->max_life, 28800);
	assert_int_equal(c->max_idle + c->indirect + c->nocache + c->postonly + c->preserve, 0);
	c = &world_proxy(&w, "b")->persist;
	assert_string_equal(c->name, "SRV");
	assert_int_equal(c->way, PERSIST_INSERT);
	assert_string_equal(
		c->attrs, "; domain=.a.b; domain=.c.d; HttpOnly; Secure; x=y; z");
	assert_int_equal(c->max_idle, 2);
	assert_int_equal(c->max_life, 0);
	assert_int_equal(c->indirect + c->nocache + c->postonly + c->preserve, 4);
	c = &world_proxy(&w, "c")->persist;
	assert_string_equal(c->name, "SRV");
	assert_null(c->attrs);
	assert_int_equal(c->way, PERSIST_PASSIVE);
	world_fini(&w);
}

/* Lines of `cookie` replace each other, but values of `attr` add up, as in HAProxy. */
static void
test_attributes_add_up(void **state)
{
	struct world w;

	(void)state;
	world_load(&w, WORLD_DEFAULTS " mode http\n cookie D insert secure attr a=b domain .d.e\n"
		"backend a\n cookie A insert attr c\n"
		"backend b\n cookie B insert attr x httponly\n cookie B insert\n"
		"backend c\n cookie C insert secure\n");
	assert_int_equal(w.result, 0);
	assert_string_equal(world_proxy(&w, "a")->persist.attrs, "; a=b; c");
	assert_string_equal(world_proxy(&w, "b")->persist.attrs, "; a=b; x");
	assert_string_equal(world_proxy(&w, "c")->persist.attrs, "; Secure; a=b");
	world_fini(&w);
}

/* The rules of a section are ordered. */
static void
test_rules(void **state)
{
	const struct persist_conf *c;
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n ignore-persist if FALSE\n"
		" use-server s1 if TRUE\n force-persist if TRUE\n"
		" use-server %[src] if TRUE\n" AFTER);
	c = &world_proxy(&w, "b")->persist;
	assert_int_equal(list_first(&c->rules, struct persist_rule, link)->what, PERSIST_IGNORE);
	assert_int_equal(
		list_entry(c->rules.prev, struct persist_rule, link)->what, PERSIST_FORCE);
	assert_string_equal(list_first(&c->uses, struct persist_rule, link)->srv->name, "s1");
	assert_non_null(list_entry(c->uses.prev, struct persist_rule, link)->fmt);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(test_attributes_add_up),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
