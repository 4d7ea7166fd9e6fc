#include "dns/hosts.h"

#include "base/err.h"
#include "unit/test.h"

static const char text[] =
	"# 192.0.2.9 a.test\n"
	"::1\tlocalhost ip6.test\r\n"
	"127.0.0.1 localhost\n"
	"\n"
	"  192.0.2.1   a.test  b.test#c.test\n"
	"192.0.2.2 a.test # d.test\n"
	"fe80::1%lo0 zone.test\n"
	"192.0.2.1234567890123456789012345678901234567890123456 long.test\n"
	"192.0.2.3\n"
	"e.test e.test\n"
	"192.0.2.4 last.test";

static void
test_names(void **state)
{
	static const struct {
		const char *name, *address; /* NULL: none */
	} rows[] = {
		{ "a.test", "192.0.2.1:0" },     /* the first line that has it */
		{ "B.Test", "192.0.2.1:0" },
		{ "localhost", "127.0.0.1:0" },  /* IPv4 first */
		{ "ip6.test", "[::1]:0" },
		{ "last.test", "192.0.2.4:0" },
		{ "c.test", NULL },
		{ "d.test", NULL },
		{ "zone.test", NULL },
		{ "long.test", NULL },
		{ "e.test", NULL },
		{ "a.tes", NULL },
		{ "a.test.", NULL },
		{ "192.0.2.3", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char buf[ADDR_TEXT];
		struct addr a;
		int r = hosts_find(text, rows[i].name, &a);

		if (r != (rows[i].address ? 0 : -ERR_MISSING))
			fail_msg("%s: %d", rows[i].name, r);
		if (!r)
			assert_string_equal(addr_text(&a, buf), rows[i].address);
	}
}

static void
test_no_lines(void **state)
{
	struct addr a;

	(void)state;
	assert_int_equal(hosts_find("", "a.test", &a), -ERR_MISSING);
	assert_int_equal(hosts_find("\n", "a.test", &a), -ERR_MISSING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_lines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
