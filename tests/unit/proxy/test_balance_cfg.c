/* balance, hash-type, hash-balance-factor. */
#include "world.h"

#define NUMBER(kw)                                                                            \
	{ kw " 0", NULL }, { kw " 2147483647", NULL }, { kw " -1", "'-1'" },                  \
		{ kw " 2147483648", "2147483648" },                                           \
		{ kw " 9223372036854775808", "9223372036854775808" }, { kw " 1e99", "1e99" }, \
		{ kw " 10x", "10x" },                                                         \
	{                                                                                     \
		kw, "<number>"                                                                \
	}

/* Options that server and default-server share. */
static const struct world_line lines[] = {
	{ "balance", NULL },
	{ "balance roundrobin", NULL },
	{ "balance static-rr", NULL },
	{ "balance leastconn", NULL },
	{ "balance source", NULL },
	{ "balance first", NULL },
	{ "balance random", NULL },
	{ "balance random()", NULL },
	{ "balance random(1)", NULL },
	{ "balance random(1024)", NULL },
	{ "balance random(0)", "'0'" },
	{ "balance random(1025)", "1025" },
	{ "balance random(-1)", "'-1'" },
	{ "balance random(x)", "'x'" },
	{ "balance random(2", "parentheses" },
	{ "balance random(99999999999999999999999999999999999)", "parentheses" },
	{ "balance uri", "'balance uri' is not supported" },
	{ "balance hdr(host)", "'balance hdr' is not supported" },
	{ "balance hash src", "'balance hash' is not supported" },
	{ "balance leastconn x", "unexpected argument 'x'" },
	{ "balance random 3", "unexpected argument '3'" },
	{ "balance uri whole", "'balance uri' is not supported" },
	{ "balance robin", "unknown algorithm 'robin'" },
	{ "balance rand", "unknown algorithm 'rand'" },
	{ "hash-type map-based", NULL },
	{ "hash-type consistent", NULL },
	{ "hash-type consistent djb2", NULL },
	{ "hash-type map-based crc32 avalanche", NULL },
	{ "hash-type", "map-based" },
	{ "hash-type ring", "'ring'" },
	{ "hash-type consistent md5", "'md5'" },
	{ "hash-type consistent wt6", "'wt6' is not supported" },
	{ "hash-type map-based none", "'none' is not supported" },
	{ "hash-type map-based sdbm snow", "'snow'" },
	{ "hash-type map-based sdbm avalanche x", "argument" },
	{ "hash-balance-factor 0", NULL },
	{ "hash-balance-factor 101", NULL },
	{ "hash-balance-factor 65535", NULL },
	{ "hash-balance-factor 100", "above 100" },
	{ "hash-balance-factor -1", "'-1'" },
	{ "hash-balance-factor 65536", "65536" },
	{ "hash-balance-factor 10x", "'10x'" },
	{ "hash-balance-factor", "<percent>" },
};

static void
test_lines(void **state)
{
	(void)state;
	world_lines("backend b\n ", lines, ARRAY_LEN(lines), "");
}

static void
test_values(void **state)
{
	struct world w;
	const struct proxy *p;

	(void)state;
	world_good(&w,
		"defaults\n mode tcp\n timeout connect 5s\n timeout client 5s\n timeout server 5s\n"
		" hash-type consistent\n hash-balance-factor 150\n"
		"backend b\n balance source\n"
		"backend c\n hash-type map-based crc32\n hash-balance-factor 0\n");
	p = world_proxy(&w, "b");
	assert_int_equal(p->balance, BALANCE_SOURCE);
	assert_int_equal(p->hash_type.consistent, 1);
	assert_int_equal(p->hash_type.function, HASH_SDBM);
	assert_int_equal(p->hash_type.avalanche, 1);
	assert_int_equal(p->hash_balance_factor, 150);
	p = world_proxy(&w, "c");
	assert_int_equal(p->hash_type.consistent, 0);
	assert_int_equal(p->hash_type.function, HASH_CRC32);
	assert_int_equal(p->hash_type.avalanche, 0);
	assert_int_equal(p->hash_balance_factor, 0);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
