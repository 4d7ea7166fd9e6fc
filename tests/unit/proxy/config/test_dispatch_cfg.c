#include "proxy/config/proxies_finish.h"

#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "dispatch 127.0.0.1:80", NULL },
	{ "dispatch ipv6@[::1]:80", NULL },
	{ "dispatch unix@/run/x", NULL },
	{ "dispatch", "<address>:<port>" },
	{ "dispatch 127.0.0.1", "the port is missing" },
	{ "dispatch 127.0.0.1:+1", "a port offset is not permitted here" },
	{ "dispatch 127.0.0.1:1-2", "a port range is not permitted here" },
	{ "dispatch :80", "':80' is not an address to connect to" },
	{ "dispatch 127.0.0.1:80 check", "unexpected argument 'check'" },
	{ "option transparent", NULL },
	{ "transparent", NULL },
	{ "option transparent x", "unexpected argument 'x'" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n ", lines, ARRAY_LEN(lines), " server s 127.0.0.1:1\n");
	world_reports(
		WORLD_DEFAULTS "defaults\n dispatch 127.0.0.1:80\nbackend b\n", -1, "'dispatch'");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n dispatch 127.0.0.1:80\n", 0,
		"'dispatch' ignored because frontend 'f' has no backend capability.");
}

static void
test_balance_excludes_them(void **state)
{
	struct world w;

	(void)state;
	world_reports(WORLD_DEFAULTS " balance source\nbackend b\n option transparent\n", -1,
		"backend 'b' cannot use both transparent and balance mode.");
	world_load(
		&w, WORLD_DEFAULTS "listen l\n bind :1\n balance source\n dispatch 127.0.0.1:80\n");
	assert_int_equal(w.result, 0);
	assert_non_null(strstr(
		w.printed, "dispatch address of proxy 'l' will be ignored in balance mode."));
	assert_null(world_proxy(&w, "l")->dispatch);
	world_fini(&w);
}

static void
test_they_are_no_servers(void **state)
{
	const struct server *s;
	const struct proxy *b;
	struct addr a;
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS " option transparent\n default-server check\nbackend b\n"
		" dispatch 127.0.0.1:80\n dispatch 127.0.0.1:81\nbackend c\n"
		"backend d\n no option transparent\n");
	b = world_proxy(&w, "b");
	s = b->dispatch;
	assert_true(s && s->is_dispatch && !s->check && list_is_empty(&b->servers));
	(void)addr_cell_get(&s->addr, &a);
	assert_int_equal(addr_port(&a), 81);
	s = world_proxy(&w, "c")->dispatch;
	assert_non_null(s);
	(void)addr_cell_get(&s->addr, &a);
	assert_true(addr_is_any(&a) && s->spec.has_offset && s->spec.port_offset == 0);
	assert_null(world_proxy(&w, "d")->dispatch);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_balance_excludes_them),
		cmocka_unit_test(test_they_are_no_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
