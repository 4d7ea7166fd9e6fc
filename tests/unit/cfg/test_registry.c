#include "unit/cfg/cfg_rig.h"

#include <errno.h>

static void
keywords_are_found_by_section(void **state)
{
	struct cfg_registry reg;

	(void)state;
	cfg_registry_init(&reg);
	assert_null(cfg_registry_kw(&reg, "maxconn", ~0u));
	assert_int_equal(cfg_registry_add(&reg, &world_module), 0);
	assert_int_equal(cfg_registry_add(&reg, &env_cfg_module), 0);
	assert_string_equal(cfg_registry_kw(&reg, "maxconn", CFG_GLOBAL)->name, "maxconn");
	assert_null(cfg_registry_kw(&reg, "maxconn", CFG_BACKEND));
	assert_null(cfg_registry_kw(&reg, "maxcon", ~0u));
	assert_null(cfg_registry_kw(&reg, "stats", ~0u));
	assert_non_null(cfg_registry_kw(&reg, "stats socket", CFG_GLOBAL));
	assert_non_null(cfg_registry_kw(&reg, "setenv", CFG_GLOBAL));
	assert_int_equal(cfg_registry_section(&reg, "listen")->bit, CFG_LISTEN);
	assert_null(cfg_registry_section(&reg, "peers"));
	assert_non_null(cfg_registry_opt(&reg, CFG_OPT_BIND, "tfo"));
	assert_null(cfg_registry_opt(&reg, CFG_OPT_SERVER, "tfo"));
	for (unsigned i = 1; i < reg.nkw; i++)
		assert_true(strcmp(reg.kw[i - 1]->name, reg.kw[i]->name) <= 0);
	cfg_registry_fini(&reg);
}

static void
same_name_in_other_sections(void **state)
{
	static const struct cfg_kw one[] = { { .name = "log", .sections = CFG_GLOBAL }, { 0 } };
	static const struct cfg_kw two[] = { { .name = "log", .sections = CFG_PROXIES }, { 0 } };
	static const struct cfg_module a = { .name = "a", .kws = one },
				       b = { .name = "b", .kws = two };
	struct cfg_registry reg;

	(void)state;
	cfg_registry_init(&reg);
	assert_int_equal(cfg_registry_add(&reg, &a), 0);
	assert_int_equal(cfg_registry_add(&reg, &b), 0);
	assert_ptr_equal(cfg_registry_kw(&reg, "log", CFG_GLOBAL), &one[0]);
	assert_ptr_equal(cfg_registry_kw(&reg, "log", CFG_LISTEN), &two[0]);
	cfg_registry_fini(&reg);
}

static void
duplicate_keywords_are_refused(void **state)
{
	static const struct cfg_kw kw[] = { { .name = "daemon", .sections = CFG_GLOBAL }, { 0 } };
	static const struct cfg_kw twice[] = {
		{ .name = "x", .sections = CFG_FE }, { .name = "x", .sections = CFG_BE }, { 0 },
	};
	static const struct cfg_section sec[] = { { .name = "global", .bit = CFG_GLOBAL }, { 0 } };
	static const struct cfg_opt opt[] = { { .name = "tfo" }, { 0 } };
	static const struct cfg_opt opts[] = { { .name = "y" }, { .name = "y" }, { 0 } };
	static const struct cfg_module bad[] = {
		{ .name = "kw", .kws = kw },
		{ .name = "twice", .kws = twice },
		{ .name = "sec", .sections = sec },
		{ .name = "opt", .opts = { [CFG_OPT_BIND] = opt } },
		{ .name = "opts", .opts = { [CFG_OPT_SERVER] = opts } },
	};
	static const struct cfg_module fine = { .name = "fine",
		.opts = { [CFG_OPT_SERVER] = opt } };
	struct cfg_registry reg;
	unsigned nkw;

	(void)state;
	cfg_registry_init(&reg);
	assert_int_equal(cfg_registry_add(&reg, &world_module), 0);
	nkw = reg.nkw;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cfg_registry_add(&reg, &bad[i]), -EEXIST);
	assert_int_equal(reg.nkw, nkw);
	assert_int_equal(reg.nmodule, 1);
	assert_int_equal(cfg_registry_add(&reg, &fine), 0);
	cfg_registry_fini(&reg);
}

static void
too_many_modules(void **state)
{
	static const struct cfg_module empty = { .name = "empty" };
	struct cfg_registry reg;

	(void)state;
	cfg_registry_init(&reg);
	for (int i = 0; i < CFG_MODULES_MAX; i++)
		assert_int_equal(cfg_registry_add(&reg, &empty), 0);
	assert_int_equal(cfg_registry_add(&reg, &empty), -ENOSPC);
	cfg_registry_fini(&reg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keywords_are_found_by_section),
		cmocka_unit_test(same_name_in_other_sections),
		cmocka_unit_test(duplicate_keywords_are_refused),
		cmocka_unit_test(too_many_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
