#include <string.h>

#include "cfg/value.h"
#include "unit/test.h"

/* The values that every numeric keyword is tried with. */
static const char *const hostile[] = {
	"-1",
	"",
	"-",
	"+",
	" 1",
	"1 ",
	"10x",
	"1e99",
	"0x10",
	"1.5",
	"--1",
	"2147483648",
	"4294967296",
	"9223372036854775808",
	"18446744073709551615",
	"18446744073709551616",
	"99999999999999999999999999999999999999",
	"-9223372036854775809",
	"nan",
	"\xff",
};

#define EACH(i) for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)

static void
integers_are_read_within_their_range(void **state)
{
	struct cfg_value_err err;
	int64_t v = 0;

	(void)state;
	assert_int_equal(cfg_value_int("0", 0, 5, &v, &err), 0);
	assert_int_equal(v, 0);
	assert_int_equal(cfg_value_int("+5", 0, 5, &v, &err), 0);
	assert_int_equal(v, 5);
	assert_int_equal(cfg_value_int("-3", -3, 5, &v, &err), 0);
	assert_int_equal(v, -3);
	assert_int_equal(cfg_value_int("007", 0, 9, &v, &err), 0);
	assert_int_equal(v, 7);
	assert_int_equal(cfg_value_int("9223372036854775807", INT64_MIN, INT64_MAX, &v, &err), 0);
	assert_true(v == INT64_MAX);
	assert_int_equal(cfg_value_int("-9223372036854775808", INT64_MIN, INT64_MAX, &v, &err), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(cfg_value_int("9223372036854775808", INT64_MIN, INT64_MAX, &v, &err), -1);
	assert_int_equal(cfg_value_int("6", 0, 5, &v, &err), -1);
	assert_string_equal(err.text, "'6' is out of range (0..5)");
	assert_int_equal(cfg_value_int("10x", 0, 5, &v, &err), -1);
	assert_string_equal(err.text, "'10x' is not an integer (0..5 expected)");
	assert_int_equal(cfg_value_int("x", 0, 5, &v, NULL), -1);
}

static void
hostile_numbers_are_refused(void **state)
{
	int64_t i = 77;
	uint64_t u = 77;
	unsigned p = 77;

	(void)state;
	EACH(n) {
		struct cfg_value_err err = { .text = "" };

		assert_int_equal(cfg_value_int(hostile[n], 0, INT32_MAX, &i, &err), -1);
		assert_int_equal(i, 77);
		assert_true(strlen(err.text) > 10);
		err.text[0] = '\0';
		assert_int_equal(
			cfg_value_time(hostile[n], CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &u, &err), -1);
		assert_true(strlen(err.text) > 10);
		err.text[0] = '\0';
		assert_int_equal(cfg_value_size(hostile[n], 0, INT32_MAX, &u, &err), -1);
		assert_true(strlen(err.text) > 10);
		err.text[0] = '\0';
		assert_int_equal(cfg_value_percent(hostile[n], 100, &p, &err), -1);
		assert_true(strlen(err.text) > 10);
		assert_int_equal(u, 77);
		assert_int_equal(p, 77);
	}
}

static void
times_have_units(void **state)
{
	static const struct {
		const char *text;
		enum cfg_unit unit;
		uint64_t ms;
	} t[] = {
		{ "0", CFG_UNIT_MS, 0 },
		{ "5", CFG_UNIT_MS, 5 },
		{ "5", CFG_UNIT_S, 5000 },
		{ "5ms", CFG_UNIT_S, 5 },
		{ "5s", CFG_UNIT_MS, 5000 },
		{ "5m", CFG_UNIT_MS, 300000 },
		{ "2h", CFG_UNIT_MS, 7200000 },
		{ "1d", CFG_UNIT_MS, 86400000 },
		{ "24d", CFG_UNIT_MS, UINT64_C(2073600000) },
		{ "1us", CFG_UNIT_MS, 1 },
		{ "0us", CFG_UNIT_MS, 0 },
		{ "1999us", CFG_UNIT_MS, 1 },
		{ "2000", CFG_UNIT_US, 2 },
		{ "2147483647", CFG_UNIT_MS, UINT64_C(2147483647) },
	};
	struct cfg_value_err err;
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ms = 99;
		assert_int_equal(
			cfg_value_time(t[i].text, t[i].unit, 0, CFG_TIME_MAX_MS, &ms, &err), 0);
		assert_int_equal(ms, t[i].ms);
	}
	assert_int_equal(cfg_value_time("25d", CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms, &err), -1);
	assert_string_equal(err.text, "timer overflow in argument '25d' (0..2147483647 ms)");
	assert_int_equal(
		cfg_value_time("300000000000000d", CFG_UNIT_MS, 0, UINT64_MAX, &ms, &err), -1);
	assert_int_equal(cfg_value_time("1", CFG_UNIT_MS, 2, 9, &ms, &err), -1);
	assert_string_equal(err.text, "timer underflow in argument '1' (2..9 ms)");
	assert_int_equal(err.odd, 0);
	assert_int_equal(cfg_value_time("5S", CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms, &err), -1);
	assert_int_equal(cfg_value_time("5sec", CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms, &err), -1);
	assert_string_equal(
		err.text, "'5sec' is not a time (a number and one of us, ms, s, m, h, d expected)");
}

static void
an_odd_character_is_named(void **state)
{
	static const struct {
		const char *text;
		char odd;
	} t[] = {
		{ "10x", 'x' }, { "abc", 'a' }, { "5sec", 'e' }, { "5msx", 'x' }, { "-1", '-' },
		{ "5u", 'u' }, { "1.5s", '.' }, { "", 0 },
	};
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfg_value_err err = { .odd = '?' };

		assert_int_equal(
			cfg_value_time(t[i].text, CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms, &err), -1);
		assert_int_equal(err.odd, t[i].odd);
	}
}

static void
sizes_have_units(void **state)
{
	struct cfg_value_err err;
	uint64_t v;

	(void)state;
	assert_int_equal(cfg_value_size("1", 0, UINT64_MAX, &v, &err), 0);
	assert_int_equal(v, 1);
	assert_int_equal(cfg_value_size("16k", 0, UINT64_MAX, &v, &err), 0);
	assert_int_equal(v, 16384);
	assert_int_equal(cfg_value_size("2M", 0, UINT64_MAX, &v, &err), 0);
	assert_int_equal(v, 2 << 20);
	assert_int_equal(cfg_value_size("3g", 0, UINT64_MAX, &v, &err), 0);
	assert_true(v == UINT64_C(3) << 30);
	assert_int_equal(cfg_value_size("18446744073709551615", 0, UINT64_MAX, &v, &err), 0);
	assert_int_equal(cfg_value_size("18446744073709551615k", 0, UINT64_MAX, &v, &err), -1);
	assert_int_equal(cfg_value_size("1t", 0, UINT64_MAX, &v, &err), -1);
	assert_int_equal(cfg_value_size("1kb", 0, UINT64_MAX, &v, &err), -1);
	assert_int_equal(cfg_value_size("1023", 1024, 65536, &v, &err), -1);
	assert_string_equal(err.text, "size '1023' is out of range (1024..65536 bytes)");
}

static void
percents_and_switches(void **state)
{
	static const char *const on[] = { "on", "true", "yes", "1" };
	static const char *const off[] = { "off", "false", "no", "0" };
	struct cfg_value_err err;
	unsigned p;
	int b;

	(void)state;
	assert_int_equal(cfg_value_percent("100%", 100, &p, &err), 0);
	assert_int_equal(p, 100);
	assert_int_equal(cfg_value_percent("7", 100, &p, &err), 0);
	assert_int_equal(p, 7);
	assert_int_equal(cfg_value_percent("7%%", 100, &p, &err), -1);
	for (int i = 0; i < 4; i++) {
		b = 0;
		assert_int_equal(cfg_value_bool(on[i], &b, &err), 0);
		assert_true(b);
		assert_int_equal(cfg_value_bool(off[i], &b, &err), 0);
		assert_false(b);
	}
	assert_int_equal(cfg_value_bool("", &b, &err), -1);
	assert_int_equal(cfg_value_bool("ON", &b, &err), -1);
	assert_int_equal(cfg_value_bool("2", &b, &err), -1);
}

static void
words_are_read_and_listed(void **state)
{
	static const struct cfg_enum names[] = {
		{ "roundrobin", 4, NULL }, { "leastconn", 5, NULL }, { "source", 6, NULL }, { 0 },
	};
	static struct cfg_enum many[100];
	struct cfg_value_err err;
	int v = 0;

	(void)state;
	assert_int_equal(cfg_value_enum("leastconn", names, &v, &err), 0);
	assert_int_equal(v, 5);
	assert_int_equal(cfg_value_enum("leastcon", names, &v, &err), -1);
	assert_string_equal(err.text,
		"'leastcon' is not one of roundrobin, leastconn, source; did you "
		"mean 'leastconn'?");
	assert_int_equal(cfg_value_enum("", names, &v, &err), -1);
	assert_int_equal(v, 5);
	for (int i = 0; i < 99; i++)
		many[i].name = "a-rather-long-name";
	assert_int_equal(cfg_value_enum("x", many, &v, &err), -1);
	assert_true(strlen(err.text) < CFG_VALUE_TEXT_MAX);
	assert_non_null(strstr(err.text, "a-rather-long-name, ..."));
	assert_string_equal(strstr(err.text, ", ..."), ", ...");
	assert_int_equal(cfg_value_enum("a-rather-long-nam", many, &v, &err), -1);
	assert_non_null(strstr(err.text, ", ...; did you mean 'a-rather-long-name'?"));
}

static void
what_follows_a_word_in_a_table_is_not_compared(void **state)
{
	static const struct cfg_enum words[] = { { "hdr(<name>)", 1, NULL }, { "len <n>", 2, NULL },
		{ "random[(<draws>)]", 3, NULL }, { "<facility>", 4, NULL }, { 0 } };

	(void)state;
	assert_ptr_equal(cfg_enum_find(words, "hdr(x)", 3), &words[0]);
	assert_ptr_equal(cfg_enum_find(words, "len", 3), &words[1]);
	assert_ptr_equal(cfg_enum_find(words, "random", 6), &words[2]);
	assert_null(cfg_enum_find(words, "hdr(x)", 6));
	assert_null(cfg_enum_find(words, "le", 2));
	assert_null(cfg_enum_find(words, "len <n>", 7));
	assert_null(cfg_enum_find(words, "", 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_read_within_their_range),
		cmocka_unit_test(hostile_numbers_are_refused),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(an_odd_character_is_named),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(percents_and_switches),
		cmocka_unit_test(words_are_read_and_listed),
		cmocka_unit_test(what_follows_a_word_in_a_table_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
