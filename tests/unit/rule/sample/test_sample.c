#include "unit/rule/expr_rig.h"

#include <arpa/inet.h>

static void
texts_become_numbers_as_in_haproxy(void **state)
{
	/* the results of HAProxy 2.6 */
	static const struct {
		const char *text;
		int64_t v;
	} t[] = {
		{ "12", 12 },
		{ "12abc", 12 },
		{ " 12", 0 },
		{ "-12", -12 },
		{ "+12", 12 },
		{ "abc", 0 },
		{ "0x10", 0 },
		{ "-", 0 },
		{ "99999999999999999999", INT64_MAX },
		{ "9223372036854775807", INT64_MAX },
		{ "9223372036854775808", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
		{ "-9223372036854775809", INT64_MIN },
		{ "00000000000000000000000000012", 12 },
	};
	int64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		v = 77;
		assert_int_equal(sample_parse_int(str_of(t[i].text), &v), 0);
		assert_int_equal(v, t[i].v);
	}
	assert_int_equal(sample_parse_int(STR(""), &v), -1);
}

/* A sample of that type, with a value that can be converted to all types. */
static struct sample
specimen(enum sample_type t)
{
	struct sample s = { .type = t };

	if (t == SAMPLE_BOOL || t == SAMPLE_SINT)
		s.u.sint = 1;
	else if (t == SAMPLE_IPV4)
		s.u.ipv4.s_addr = htonl(0x01020304);
	else if (t == SAMPLE_IPV6)
		inet_pton(AF_INET6, "::ffff:1.2.3.4", &s.u.ipv6);
	else
		s.u.str = STR("1.2.3.4");
	return s;
}

static void
each_pair_of_types_has_its_cast(void **state)
{
	/* from row to column, in the order of the types; ADDR and ANY last */
	static const char *const may[SAMPLE_TYPES] = {
		[SAMPLE_BOOL] = "yy..yy.y",
		[SAMPLE_SINT] = "yyyyyyyy",
		[SAMPLE_IPV4] = ".yyyyyyy",
		[SAMPLE_IPV6] = "..yyyyyy",
		[SAMPLE_STR] = "yyyyyyyy",
		[SAMPLE_BIN] = "....yy.y",
	};
	char mem[64];

	(void)state;
	for (unsigned int from = 0; from < SAMPLE_TYPES; from++) {
		for (unsigned int to = 0; to <= SAMPLE_ANY; to++) {
			struct arena a = { .p = mem, .cap = sizeof(mem) };
			struct sample s = specimen((enum sample_type)from);
			int can = may[from][to] == 'y';

			assert_int_equal(sample_can_cast((enum sample_type)from,
						 (enum sample_type)to), can);
			assert_int_equal(sample_cast(&s, (enum sample_type)to, &a), can ? 0 : -1);
			if (can && to < SAMPLE_TYPES)
				assert_int_equal(s.type, to);
			if (can && to == SAMPLE_ADDR)
				assert_true(s.type == SAMPLE_IPV4 || s.type == SAMPLE_IPV6);
			if (!can || to == SAMPLE_ANY)
				assert_int_equal(s.type, from);
		}
	}
}

static void
a_cast_without_room_fails(void **state)
{
	(void)state;
	for (unsigned int from = 0; from < SAMPLE_STR; from++) {
		for (unsigned int to = SAMPLE_STR; to <= SAMPLE_BIN; to++) {
			char mem[1];
			struct arena a = { .p = mem, .cap = 0 };
			struct sample s = specimen((enum sample_type)from);

			assert_int_equal(sample_cast(&s, (enum sample_type)to, &a), -1);
			assert_int_equal(a.refused, 1);
		}
	}
}

/* The address that a text converts to, as text; "-" for none. */
static const char *
ip_of(const char *text, enum sample_type to)
{
	static char mem[64];
	struct arena a = { .p = mem, .cap = sizeof(mem) };
	struct sample s = { .type = SAMPLE_STR, .u.str = str_of(text) };

	memset(mem, 0, sizeof(mem));
	if (sample_cast(&s, to, &a))
		return "-";
	assert_int_equal(sample_cast(&s, SAMPLE_STR, &a), 0);
	return s.u.str.p;
}

static void
texts_become_addresses(void **state)
{
	struct sample s;

	(void)state;
	assert_string_equal(ip_of("1.2.3.4", SAMPLE_ADDR), "1.2.3.4");
	assert_string_equal(ip_of("1.2.3.4:80", SAMPLE_ADDR), "1.2.3.4");
	assert_string_equal(ip_of("1.2.3.4:65535", SAMPLE_ADDR), "1.2.3.4");
	assert_string_equal(ip_of("1.2.3.4:65536", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("1.2.3.4:", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("1.2.3.4:x", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("1.2.3", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("1.2.3.4 ", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("xyz", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("1::2", SAMPLE_ADDR), "1::2");
	assert_string_equal(ip_of("[1::2]", SAMPLE_ADDR), "-");
	assert_string_equal(ip_of("1::2", SAMPLE_IPV4), "-");
	assert_string_equal(ip_of("::ffff:1.2.3.4", SAMPLE_IPV4), "1.2.3.4");
	assert_string_equal(ip_of("1.2.3.4", SAMPLE_IPV6), "::ffff:1.2.3.4");
	/* a text of any length */
	assert_string_equal(ip_of("1111:2222:3333:4444:5555:6666:7777:88888888888888888888",
				    SAMPLE_ADDR), "-");
	s = (struct sample){ .type = SAMPLE_STR, .u.str = { "1::2\0x", 6 } };
	assert_int_equal(sample_cast(&s, SAMPLE_ADDR, NULL), -1);
	/* of a number the lower 32 bits */
	s = (struct sample){ .type = SAMPLE_SINT, .u.sint = 5000000000 };
	assert_int_equal(sample_cast(&s, SAMPLE_IPV4, NULL), 0);
	assert_int_equal(ntohl(s.u.ipv4.s_addr), 0x2a05f200);
}

static void
numbers_become_bytes(void **state)
{
	char mem[64];
	struct arena a = { .p = mem, .cap = sizeof(mem) };
	struct sample s = { .type = SAMPLE_SINT, .u.sint = -2 };

	(void)state;
	assert_int_equal(sample_cast(&s, SAMPLE_BIN, &a), 0);
	assert_int_equal(s.u.str.len, 8);
	assert_memory_equal(s.u.str.p, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
	s = specimen(SAMPLE_IPV4);
	assert_int_equal(sample_cast(&s, SAMPLE_BIN, &a), 0);
	assert_true(str_is(s.u.str, STR("\1\2\3\4")));
	s = specimen(SAMPLE_IPV6);
	assert_int_equal(sample_cast(&s, SAMPLE_BIN, &a), 0);
	assert_int_equal(s.u.str.len, 16);
	/* binary samples end at a NUL when converted to text */
	s = (struct sample){ .type = SAMPLE_BIN, .u.str = { "A\0BD", 4 } };
	assert_int_equal(sample_cast(&s, SAMPLE_STR, &a), 0);
	assert_true(str_is(s.u.str, STR("A")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_numbers_as_in_haproxy),
		cmocka_unit_test(each_pair_of_types_has_its_cast),
		cmocka_unit_test(a_cast_without_room_fails),
		cmocka_unit_test(texts_become_addresses),
		cmocka_unit_test(numbers_become_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
