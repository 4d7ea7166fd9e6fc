/* Cookies made of addresses; the values are those of HAProxy 2.6. */
#include "proxy/model/persist_conf.h"

#include "unit/proxy/proxies_rig.h"

#include "unit/net/net_rig.h"

#define BACKEND(key, servers) \
	WORLD_DEFAULTS "backend b\n mode http\n cookie S insert dynamic\n" \
		" dynamic-cookie-key " key "\n" servers

static struct world w;
static char text[DYNAMIC_COOKIE_TEXT];

static struct server *
server_of(struct proxy *p, const char *name)
{
	struct server *s = proxy_find_server(p, str_of(name));

	assert_non_null(s);
	return s;
}

static void
values_are_those_of_haproxy(void **state)
{
	static const struct {
		const char *key, *addr, *value;
	} rows[] = {
		{ "secret", "127.0.0.1:21099", "f39227d033dbd91c" },
		{ "secret", "127.0.0.1:21100", "1a6ba0b901ac0a4e" },
		{ "other", "127.0.0.1:21099", "78dc46a462b16895" },
		{ "k", "127.0.0.1:21099", "78cce416dec64e62" },
		{ "abcdefgh", "[::1]:21099", "d4040b29364068cd" },
		{ "abcdefgh", "127.0.0.1", "4662e843137f9110" },
		{ "abcdefgh", "127.0.0.1:+19", "cd6346f512d5ee46" },
	};
	char cfg[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		(void)snprintf(cfg, sizeof(cfg), BACKEND("%s", " server s %s\n"), rows[i].key,
			rows[i].addr);
		world_good(&w, cfg);
		assert_string_equal(
			server_cookie(server_of(world_proxy(&w, "b"), "s"), text), rows[i].value);
		world_fini(&w);
	}
}

static void
some_servers_have_none(void **state)
{
	struct proxy *p;

	(void)state;
	world_good(&w, BACKEND("k", " server a 127.0.0.1:1 cookie mine\n server b /tmp/x\n"
		" server c 127.0.0.1:1\n") "backend off\n mode http\n cookie S insert\n"
		" dynamic-cookie-key k\n server s 127.0.0.1:1\n");
	p = world_proxy(&w, "b");
	assert_string_equal(server_cookie(server_of(p, "a"), text), "mine");
	assert_null(server_cookie(server_of(p, "b"), text));
	assert_non_null(server_cookie(server_of(p, "c"), text));
	assert_int_equal(p->persist.dynamic.n, 2);
	assert_null(server_cookie(server_of(world_proxy(&w, "off"), "s"), text));
	world_fini(&w);
}

static void
they_follow_the_address_and_the_switch(void **state)
{
	struct addr a = addr_of("127.0.0.1:21100");
	struct server *s;
	struct proxy *p;

	(void)state;
	world_good(&w, BACKEND("secret", " server s 127.0.0.1:21099\n"));
	p = world_proxy(&w, "b");
	s = server_of(p, "s");
	addr_cell_set(&s->addr, &a);
	dynamic_cookie_set(s);
	assert_string_equal(server_cookie(s, text), "1a6ba0b901ac0a4e");
	p->persist.dynamic.is_on = 0;
	dynamic_cookies_set(p);
	assert_null(server_cookie(s, text));
	p->persist.dynamic.is_on = 1;
	dynamic_cookies_set(p);
	assert_string_equal(server_cookie(s, text), "1a6ba0b901ac0a4e");
	world_fini(&w);
}

static void
only_whole_values_are_parsed(void **state)
{
	(void)state;
	assert_int_equal(dynamic_cookie_parse(STR("f39227d033dbd91c")), 0xf39227d033dbd91c);
	assert_int_equal(dynamic_cookie_parse(STR("0000000000000001")), 1);
	assert_int_equal(dynamic_cookie_parse(STR("F39227D033DBD91C")), 0);
	assert_int_equal(dynamic_cookie_parse(STR("f39227d033dbd91")), 0);
	assert_int_equal(dynamic_cookie_parse(STR("f39227d033dbd91c0")), 0);
	assert_int_equal(dynamic_cookie_parse(STR("f39227d033dbd91g")), 0);
	assert_int_equal(dynamic_cookie_parse(STR("")), 0);
}

/* Servers with the same address have the same cookie: a warning, and both are found. */
static void
equal_ones_are_reported(void **state)
{
	const struct dynamic_cookies *d;
	unsigned int at = 0;
	struct proxy *p;

	(void)state;
	world_load(&w, BACKEND("secret", " server a 127.0.0.1:21099\n server b 127.0.0.1:1\n"
		" server c 127.0.0.1:21099\n"));
	assert_int_equal(w.result, 0);
	assert_non_null(strstr(w.printed, "We generated two equal cookies"));
	p = world_proxy(&w, "b");
	d = &p->persist.dynamic;
	assert_ptr_equal(dynamic_cookie_next(d, 0xf39227d033dbd91c, &at), server_of(p, "a"));
	assert_ptr_equal(dynamic_cookie_next(d, 0xf39227d033dbd91c, &at), server_of(p, "c"));
	assert_null(dynamic_cookie_next(d, 0xf39227d033dbd91c, &at));
	at = 0;
	assert_null(dynamic_cookie_next(d, 0, &at));
	world_fini(&w);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_haproxy),
		cmocka_unit_test(some_servers_have_none),
		cmocka_unit_test(they_follow_the_address_and_the_switch),
		cmocka_unit_test(only_whole_values_are_parsed),
		cmocka_unit_test(equal_ones_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
