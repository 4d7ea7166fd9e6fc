#include "unit/proxy/proxies_rig.h"
#include "proxy/config/proxy_life.h"

static void
test_find(void **state)
{
	struct world w;
	struct proxy *fe, *be;

	(void)state;
	world_good(
		&w, WORLD_DEFAULTS "frontend x\n bind :1\nbackend x\nlisten l\n bind :2\n id 50\n");
	fe = proxies_find(&w.proxies, "x", PROXY_FE);
	be = proxies_find(&w.proxies, "x", PROXY_BE);
	assert_non_null(fe);
	assert_non_null(be);
	assert_ptr_not_equal(fe, be);
	assert_ptr_equal(proxies_find(&w.proxies, "x", PROXY_FE | PROXY_BE), fe);
	assert_ptr_equal(
		proxies_find(&w.proxies, "l", PROXY_FE), proxies_find(&w.proxies, "l", PROXY_BE));
	assert_null(proxies_find(&w.proxies, "y", PROXY_FE | PROXY_BE));
	assert_string_equal(proxies_find_id(&w.proxies, 50)->name, "l");
	assert_null(proxies_find_id(&w.proxies, 51));
	world_fini(&w);
}

/* Each of many backends is found, and frontends are not. */
static void
test_find_backend(void **state)
{
	char text[4096], name[16];
	struct world w;
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "backend b%d\n", i * 37 % 100);
	snprintf(text + len, sizeof(text) - len, "frontend f\n bind :1\nlisten l\n bind :2\n");
	world_load(&w, text);
	assert_int_equal(w.result, 0);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "b%d", i);
		assert_string_equal(proxies_find(&w.proxies, name, PROXY_BE)->name, name);
		assert_null(proxies_find(&w.proxies, name, PROXY_FE));
	}
	assert_non_null(proxies_find(&w.proxies, "l", PROXY_BE));
	assert_null(proxies_find(&w.proxies, "f", PROXY_BE));
	assert_null(proxies_find(&w.proxies, "", PROXY_BE));
	assert_null(proxies_find(&w.proxies, "b100", PROXY_BE));
	assert_null(proxies_find(&w.proxies, "zz", PROXY_BE));
	world_fini(&w);
}

static void
test_empty(void **state)
{
	struct proxies ps;

	(void)state;
	proxies_init(&ps);
	assert_null(proxies_find(&ps, "", PROXY_FE));
	assert_null(proxies_find_id(&ps, 0));
	assert_null(proxies_find(&ps, "", PROXY_BE));
	proxies_fini(&ps);
	assert_int_equal(ps.n, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_backend),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
