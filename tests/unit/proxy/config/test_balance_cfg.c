/* balance, hash-type, hash-balance-factor. */
#include "unit/proxy/proxies_rig.h"

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
	{ "balance hash src", NULL },
	{ "balance hash src,ipmask(24)", NULL },
	{ "balance hash", "'balance hash' expects an expression" },
	{ "balance hash srx", "'balance hash' : " },
	{ "balance hash src x", "unexpected argument 'x'" },
	{ "balance hash path", "'balance hash' : request contents are not available" },
	{ "balance hash nbsrv(none)", "'balance hash' : " },
	{ "balance leastconn x", "unexpected argument 'x'" },
	{ "balance random 3", "unexpected argument '3'" },
	{ "balance robin", "unknown algorithm 'robin'" },
	{ "balance rand", "unknown algorithm 'rand'" },
	{ "balance rdp-cookie", NULL },
	{ "balance rdp-cookie(user)", NULL },
	{ "balance rdp-cookie()", "the name of a cookie in parentheses" },
	{ "balance rdp-cookie(user", "the name of a cookie in parentheses" },
	{ "balance rdp-cookiex", "unknown algorithm 'rdp-cookiex'" },
	{ "balance rdp-cookie x", "unexpected argument 'x'" },
	{ "balance sticky", "'balance sticky' is not supported" },
	{ "balance sourced", "unknown algorithm 'sourced'" },
	{ "balance source(1)", "unknown algorithm 'source(1)'" },
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
	{ "hash-preserve-affinity always", NULL },
	{ "hash-preserve-affinity maxconn", NULL },
	{ "hash-preserve-affinity maxqueue", NULL },
	{ "hash-preserve-affinity never", "'never'" },
	{ "hash-preserve-affinity", "{always | maxconn | maxqueue}" },
	{ "balance-panic-threshold 0", NULL },
	{ "balance-panic-threshold 100", NULL },
	{ "balance-panic-threshold 101", "101" },
	{ "balance-panic-threshold -1", "'-1'" },
	{ "balance-panic-threshold", "<percent>" },
};

static const struct world_line http_lines[] = {
	{ "balance uri", NULL },
	{ "balance uri whole path-only len 5 depth 2", NULL },
	{ "balance uri len", "'len' expects a number" },
	{ "balance uri len 0", "'0'" },
	{ "balance uri depth 65536", "65536" },
	{ "balance uri half", "unexpected argument 'half'" },
	{ "balance url_param id", NULL },
	{ "balance url_param", "expects the name" },
	{ "balance url_param id check_post", NULL },
	{ "balance url_param id check_post 64", NULL },
	{ "balance url_param id check_post -1", "-1" },
	{ "balance url_param id check_post 64 x", "unexpected argument 'x'" },
	{ "balance url_param id x", "unexpected argument 'x'" },
	{ "balance hdr(host)", NULL },
	{ "balance hdr(host) use_domain_only", NULL },
	{ "balance hdr(host) x", "unexpected argument 'x'" },
	{ "balance hdr(host) use_domain_only x", "unexpected argument 'x'" },
	{ "balance hdr()", "in parentheses" },
	{ "balance hdr(host", "in parentheses" },
	{ "balance hdr", "in parentheses" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n ", lines, ARRAY_LEN(lines), "");
	world_lines("backend b\n mode http\n ", http_lines, ARRAY_LEN(http_lines), "");
	/* There is no request in mode tcp. */
	world_reports(WORLD_DEFAULTS "backend b\n mode tcp\n balance uri\n server s :1\n", 0,
		"[t.cfg:7:10] : 'balance uri' is not possible for backend 'b' (needs 'mode http'). "
		"Falling back to round robin.");
}

static void
values_are_stored(void **state)
{
	struct world w;
	const struct proxy *p;

	(void)state;
	world_good(&w,
		"defaults\n mode tcp\n timeout connect 5s\n timeout client 5s\n timeout server 5s\n"
		" hash-type consistent\n hash-balance-factor 150\n"
		" hash-preserve-affinity always\n"
		"backend b\n balance source\n"
		"backend c\n hash-type map-based crc32\n hash-balance-factor 0\n");
	p = world_proxy(&w, "b");
	assert_int_equal(p->balance, BALANCE_SOURCE);
	assert_int_equal(p->hash_type.consistent, 1);
	assert_int_equal(p->hash_type.function, HASH_SDBM);
	assert_int_equal(p->hash_type.avalanche, 1);
	assert_int_equal(p->hash_balance_factor, 150);
	assert_int_equal(p->hash_affinity, HASH_AFFINITY_ALWAYS);
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
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(values_are_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
