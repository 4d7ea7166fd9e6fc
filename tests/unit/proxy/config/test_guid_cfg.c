#include "unit/proxy/proxies_rig.h"

static const struct world_line proxy_lines[] = {
	{ "guid a", NULL },
	{ "guid aZ09.:-_", NULL },
	{ "guid a/b", "character '/' is not permitted" },
	{ "guid", "<string>" },
	{ "guid a b", "'b'" },
	{ "server s 127.0.0.1:1 guid a", NULL },
	{ "server s 127.0.0.1:1 guid a!", "character '!' is not permitted" },
	{ "default-server guid a", "not allowed in 'default-server'" },
};

static struct world w;

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n ", proxy_lines, ARRAY_LEN(proxy_lines), "");
}

static void
values_are_stored(void **state)
{
	char text[800], longest[129];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[127] = '\0';
	snprintf(text, sizeof(text),
		WORLD_DEFAULTS
		"frontend f\n bind :1\n guid one\nbackend f\n server s 127.0.0.1:1 guid %s\n",
		longest);
	world_good(&w, text);
	assert_string_equal(proxies_find(&w.proxies, "f", PROXY_FE)->guid, "one");
	assert_null(proxies_find(&w.proxies, "f", PROXY_BE)->guid);
	assert_string_equal(
		proxy_find_server(proxies_find(&w.proxies, "f", PROXY_BE), str_of("s"))->guid,
		longest);
	world_fini(&w);
}

static void
each_is_unique(void **state)
{
	static const char *const texts[] = {
		"frontend f\n bind :1\n guid one\nbackend b\n guid one\n",
		"backend b\n guid one\n server s 127.0.0.1:1 guid one\n",
		"backend b\n server s 127.0.0.1:1 guid one\n server t 127.0.0.1:1 guid one\n",
		"backend b\n guid one\n guid two\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		world_reports(texts[i], -1, i == 3 ? "there is one already" : "'one' is used at ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lines_load_or_are_refused),
					    cmocka_unit_test(values_are_stored),
					    cmocka_unit_test(each_is_unique) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
