#include "unit/proxy/proxies_rig.h"

static void
test_names(void **state)
{
	static const struct {
		const char *text, *says;
	} t[] = {
		{ "frontend f\n bind :1\nfrontend f\n bind :2\n",
			"frontend 'f' has the same name as frontend 'f' declared at t.cfg:1." },
		{ "backend f\nbackend f\n", "backend 'f' has the same name as backend 'f'" },
		{ "listen f\n bind :1\nbackend f\n", "backend 'f' has the same name as proxy 'f'" },
		{ "frontend f\n bind :1\nlisten f\n bind :2\n",
			"proxy 'f' has the same name as frontend" },
		{ "frontend f\n bind :1\nbackend f\nlisten f\n bind :2\n",
			"proxy 'f' has the same name" },
		{ "frontend f\n bind :1\nbackend f\nfrontend f\n bind :2\n",
			"frontend 'f' has the same name as frontend 'f' declared at t.cfg:1." },
		{ "frontend f\n disabled\nfrontend f\n bind :2\n", "has the same name" },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		world_reports(t[i].text, -1, t[i].says);
	world_good(&w, WORLD_DEFAULTS "frontend f\n bind :1\nbackend f\nbackend F\n");
	world_fini(&w);
}

static void
test_ids(void **state)
{
	struct world w;

	(void)state;
	world_reports("backend b\n id 5\nbackend c\n id 5\n", -1,
		"backend 'c' reuses the custom id 5 of backend 'b' (declared at t.cfg:1)");
	world_reports("frontend f\n bind :1 id 3\n bind :2 id 3\n", -1,
		"'id' : custom id 3 already used at t.cfg:2");
	/* The ids that HAProxy 2.6 assigns for the same file (observed). */
	world_good(&w,
		WORLD_DEFAULTS "frontend a\n bind /x1\n bind /x2 id 1\n bind /x3\n"
			       "backend b\n id 3\n server s :1\n server t :1 id 2\n"
			       " server u :1 id 1\n server v :1\n"
			       "listen c\n bind /x4,/x5\n");
	assert_int_equal(world_proxy(&w, "a")->id, 1);
	assert_int_equal(world_proxy(&w, "b")->id, 3);
	assert_int_equal(world_proxy(&w, "c")->id, 4);
	assert_int_equal(world_listener(world_bind(world_proxy(&w, "a"), 0), 0)->id, 2);
	assert_int_equal(world_listener(world_bind(world_proxy(&w, "a"), 1), 0)->id, 1);
	assert_int_equal(world_listener(world_bind(world_proxy(&w, "a"), 2), 0)->id, 4);
	assert_int_equal(world_listener(world_bind(world_proxy(&w, "c"), 0), 1)->id, 2);
	assert_int_equal(world_server(world_proxy(&w, "b"), 0)->id, 3);
	assert_int_equal(world_server(world_proxy(&w, "b"), 1)->id, 2);
	assert_int_equal(world_server(world_proxy(&w, "b"), 2)->id, 1);
	assert_int_equal(world_server(world_proxy(&w, "b"), 3)->id, 6);
	world_fini(&w);
}

/* Ids at the end of the range do not make the counter wrap. */
static void
test_last_ids(void **state)
{
	struct world w;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS "backend b\n id 2147483647\n server s :1 id 2147483647\n"
			       " server t :1\nbackend c\n");
	assert_int_equal(world_server(world_proxy(&w, "b"), 1)->id, 2);
	assert_int_equal(world_proxy(&w, "c")->id, 2);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_last_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
