/* The cookie of an RDP client, and the server that it names. */
#include "rule/sample/rdp.h"

#include "base/compiler.h"
#include "unit/test.h"

#define HEAD "\x03\x00\x00\x2b\x26\xe0\x00\x00\x00\x00\x00"
#define BYTES(text) ((struct str){ HEAD text, sizeof(HEAD text) - 1 })

static void
names_are_compared_in_any_case(void **state)
{
	struct str value;

	(void)state;
	assert_true(rdp_find_named(BYTES("Cookie: mstshash=bob\r\n"), "MSTSHash", &value));
	assert_true(str_is(value, STR("bob")));
	assert_true(rdp_find_named(BYTES("cookie:MSTS=\r\n"), "msts", &value));
	assert_int_equal(value.len, 0);
	assert_false(rdp_find_named(BYTES("Cookie: mstshash=bob\r\n"), "msts", &value));
	assert_false(rdp_find_named(BYTES("Cookie: msts=bob\r\n"), "mstshash", &value));
	assert_false(rdp_find_named(BYTES("Cookie: msts=bob\r"), "msts", &value));
	assert_false(rdp_find_named(BYTES("Cookie: msts=bob"), "msts", &value));
	assert_false(rdp_find_named(STR("GET / HTTP/1.1\r\n"), "msts", &value));
	assert_false(rdp_find_named(STR(""), "msts", &value));
}

static void
tokens_name_servers(void **state)
{
	static const struct {
		const char *text;
		int is_token;
		uint32_t ip;
		uint16_t port;
	} rows[] = {
		/* The example of MS-RDPBCGR 2.2.1.1 and of HAProxy: 172.31.249.216:3389. */
		{ "3640205228.15629.0000", 1, 0xac1ff9d8, 3389 },
		{ "16777343.27218.0000", 1, 0x7f000001, 21098 },
		{ "16777343.27218.", 1, 0x7f000001, 21098 },
		{ "0.0.", 1, 0, 0 },
		{ "4294967295.65535.x", 1, 0xffffffff, 65535 },
		{ "4294967296.65535.x", 0, 0, 0 },
		{ "4294967295.65536.x", 0, 0, 0 },
		{ "99999999999999999999999.1.", 0, 0, 0 },
		{ "16777343.27218", 0, 0, 0 },
		{ "16777343.", 0, 0, 0 },
		{ "16777343", 0, 0, 0 },
		{ "16777343..", 0, 0, 0 },
		{ ".27218.", 0, 0, 0 },
		{ " 16777343.27218.", 0, 0, 0 },
		{ "-1.27218.", 0, 0, 0 },
		{ "16777343.27218x.", 0, 0, 0 },
		{ "", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t ip = 0;
		uint16_t port = 0;

		if ((rdp_parse_token(str_of(rows[i].text), &ip, &port) == 0) != rows[i].is_token ||
			ip != rows[i].ip || port != rows[i].port)
			fail_msg("%s: %x %u", rows[i].text, ip, port);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_compared_in_any_case),
		cmocka_unit_test(tokens_name_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
