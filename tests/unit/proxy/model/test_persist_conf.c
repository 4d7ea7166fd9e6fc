#include "unit/proxy/proxies_rig.h"

#define SERVERS                                                          \
	" server s1 127.0.0.1:1 cookie b\n server s2 127.0.0.1:1\n"      \
	" server s3 127.0.0.1:1 cookie a\n server s4 127.0.0.1:1 cookie b\n" \
	" server s5 127.0.0.1:1 cookie bb\n"

/* The names of the servers with this cookie. */
static const char *
found(const struct persist_conf *c, const char *cookie)
{
	static char text[100];
	unsigned int n, at = persist_conf_find(c, str_of(cookie), &n);

	text[0] = '\0';
	for (unsigned int i = at; i < at + n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			c->entry[i].srv->name);
	return text;
}

static void
test_find(void **state)
{
	const struct persist_conf *c;
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n mode http\n cookie S insert\n" SERVERS
		"backend none\n mode http\n cookie S insert\n server s 127.0.0.1:1\n");
	c = &world_proxy(&w, "b")->persist;
	assert_string_equal(found(c, "a"), "s3 ");
	assert_string_equal(found(c, "b"), "s1 s4 ");
	assert_string_equal(found(c, "bb"), "s5 ");
	assert_string_equal(found(c, ""), "");
	assert_string_equal(found(c, "bbb"), "");
	assert_string_equal(found(c, "aa"), "");
	assert_string_equal(found(c, "c"), "");
	assert_string_equal(found(&world_proxy(&w, "none")->persist, "a"), "");
	world_fini(&w);
}

static void
test_properties(void **state)
{
	static const struct {
		const char *line;
		int empty, shows;
	} t[] = {
		{ "", 1, 0 },
		{ "cookie S", 0, 0 },
		{ "cookie S nocache postonly", 0, 0 },
		{ "cookie S indirect", 0, 1 },
		{ "cookie S insert", 0, 1 },
		{ "cookie S prefix", 0, 1 },
		{ "cookie S rewrite", 0, 1 },
		{ "use-server s1 if TRUE", 0, 0 },
		{ "ignore-persist if TRUE", 0, 0 },
	};
	char text[1024];
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const struct persist_conf *c;

		snprintf(text, sizeof(text), WORLD_DEFAULTS "backend b\n mode http\n %s\n" SERVERS,
			t[i].line);
		world_good(&w, text);
		c = &world_proxy(&w, "b")->persist;
		if (!!persist_conf_is_empty(c) != t[i].empty ||
			!!persist_conf_shows(c) != t[i].shows)
			fail_msg("%s", t[i].line);
		world_fini(&w);
	}
}

/* In mode tcp there are no cookies, and of a client the bytes that it has sent. */
static void
test_modes(void **state)
{
	static const struct proxy tcp = { .mode = PROXY_TCP };

	(void)state;
	world_reports(WORLD_DEFAULTS "backend b\n cookie S insert\n" SERVERS, 0,
		"cookie will be ignored for backend 'b' (needs 'mode http')");
	world_reports(WORLD_DEFAULTS "backend b\n use-server s1 if { path / }\n" SERVERS, 0, "");
	world_reports(WORLD_DEFAULTS "backend b\n use-server s1 if { src ::1 }\n" SERVERS, 0, "");
	world_reports(WORLD_DEFAULTS "backend b\n use-server %[nbsrv(x)] if TRUE\n" SERVERS, -1,
		"'use-server' : ");
	world_reports(WORLD_DEFAULTS "backend b\n force-persist if { nbsrv(x) 1 }\n" SERVERS, -1,
		"'force-persist' : ");
	assert_int_equal(persist_scope(&tcp),
		SAMPLE_AT_CONN | SAMPLE_AT_BACK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
