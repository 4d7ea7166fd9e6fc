#include <string.h>

#include "base/compiler.h"
#include "cfg/value_set.h"
#include "unit/test.h"

#define BIT(n) (UINT64_C(1) << ((n) - 1))

static void
sets_are_read_as_bits(void **state)
{
	static const struct {
		const char *text;
		unsigned max;
		uint64_t set;
	} t[] = {
		{ "all", 64, UINT64_MAX },
		{ "all", 3, 7 },
		{ "all", 1, 1 },
		{ "odd", 64, UINT64_C(0x5555555555555555) },
		{ "odd", 3, 5 },
		{ "even", 64, UINT64_C(0xaaaaaaaaaaaaaaaa) },
		{ "even", 3, 2 },
		{ "even", 1, 0 },
		{ "1", 64, BIT(1) },
		{ "64", 64, BIT(64) },
		{ "007", 64, BIT(7) },
		{ "1-64", 64, UINT64_MAX },
		{ "1-", 64, UINT64_MAX },
		{ "1-", 5, 31 },
		{ "64-", 64, BIT(64) },
		{ "63-", 64, BIT(63) | BIT(64) },
		{ "2-4", 64, 14 },
		{ "4-2", 64, 14 },
		{ "5-5", 64, BIT(5) },
		{ "1-1", 1, 1 },
	};
	struct cfg_value_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		uint64_t set = 77;

		assert_int_equal(cfg_value_set(t[i].text, t[i].max, &set, &err), 0);
		if (set != t[i].set)
			fail_msg("'%s' of %u: %llx", t[i].text, t[i].max, (unsigned long long)set);
	}
}

static void
ranges_of_cpus_are_read(void **state)
{
	static const struct {
		const char *text;
		int lo, hi;
	} t[] = {
		{ "0", 0, 0 },
		{ "63", 63, 63 },
		{ "64", 64, 64 },
		{ "1023", 1023, 1023 },
		{ "0-3", 0, 3 },
		{ "3-0", 0, 3 },
		{ "0-", 0, 1023 },
		{ "1020-", 1020, 1023 },
		{ "01-02", 1, 2 },
	};
	struct cfg_value_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		assert_int_equal(cfg_value_cpus(t[i].text, &set, &err), 0);
		assert_int_equal(CPU_COUNT(&set), t[i].hi - t[i].lo + 1);
		assert_true(CPU_ISSET(t[i].lo, &set) && CPU_ISSET(t[i].hi, &set));
		/* the new ones are added to the set */
		assert_int_equal(cfg_value_cpus("500", &set, &err), 0);
		assert_true(CPU_ISSET(500, &set) && CPU_ISSET(t[i].lo, &set));
	}
}

static void
invalid_sets_are_refused(void **state)
{
	static const char *const neither[] = { "", "-", "x", "-1", "-3", "1x", "1-x", "1-2-3",
		"1,2", "1-2,3", "+1", "1-+2", " 1", "1 ", "1--2", "ALL", "all1", "1/1", "0x1",
		"1e1", "1.5", "\xff", "4294967297", "18446744073709551617",
		"99999999999999999999999999", "1-99999999999999999999999999", "2000-" };
	static const char *const no_set[] = { "0", "0-1", "1-0", "65", "1-65", "65-", "64-65",
		"0-" };
	static const char *const no_cpu[] = { "all", "odd", "even", "1024", "0-1024", "1024-",
		"1024-1" };
	struct cfg_value_err err;
	uint64_t set = 77;
	cpu_set_t got, none;

	(void)state;
	CPU_ZERO(&got);
	CPU_ZERO(&none);
	for (size_t i = 0; i < ARRAY_LEN(neither); i++) {
		assert_int_equal(cfg_value_set(neither[i], 64, &set, &err), -1);
		assert_true(strlen(err.text) > 10);
		assert_int_equal(cfg_value_cpus(neither[i], &got, &err), -1);
		assert_true(strlen(err.text) > 10);
	}
	for (size_t i = 0; i < ARRAY_LEN(no_set); i++)
		assert_int_equal(cfg_value_set(no_set[i], 64, &set, NULL), -1);
	for (size_t i = 0; i < ARRAY_LEN(no_cpu); i++)
		assert_int_equal(cfg_value_cpus(no_cpu[i], &got, NULL), -1);
	assert_int_equal(set, 77);
	assert_true(CPU_EQUAL(&got, &none));
	assert_int_equal(cfg_value_set("3", 2, &set, &err), -1);
	assert_string_equal(err.text, "'3' is out of range (1..2)");
	assert_int_equal(cfg_value_cpus("1024", &got, &err), -1);
	assert_string_equal(err.text, "CPU '1024' is out of range (0..1023)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_read_as_bits),
		cmocka_unit_test(ranges_of_cpus_are_read),
		cmocka_unit_test(invalid_sets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
