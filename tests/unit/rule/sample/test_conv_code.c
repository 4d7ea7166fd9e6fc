#define ROWS "unit/rule/oracle_code.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	/* stricter than HAProxy: padding is only accepted at the end */
	IS("str(YWJjZA==YWJj),b64dec", "(none)");
	IS("str(Y===),b64dec", "(none)");
	IS("str(YQ=a),b64dec", "(none)");
	IS("str(-w==),ub64dec", "(none)");
	IS("bin(00),be2dec(.,9)", "17: 'be2dec': a piece has 1 to 8 bytes");
	IS("bin(00),be2dec(.,0)", "17: 'be2dec': a piece has 1 to 8 bytes");
	IS("bin(00),be2hex(:)", "14: 'be2hex': a piece has 1 byte or more");
	IS("bin(00),be2hex(,,1)", "16: 'be2hex': a piece has 1 byte or more");
	IS("bin(00),be2hex(:,0)", "17: 'be2hex': a piece has 1 byte or more");
	IS("str(a),url_enc(path)", "15: 'url_enc': the only type is 'query'");
}

/* Encoding and decoding, for every length. */
static void
encode_and_decode(void **state)
{
	static const char *const pairs[][2] = { { "base64", "b64dec" }, { "ub64enc", "ub64dec" },
		{ "url_enc", "url_dec(1)" } };
	char bytes[129], text[512];

	(void)state;
	for (size_t n = 0; n < 64; n++) {
		for (size_t i = 0; i < n; i++)
			snprintf(bytes + 2 * i, 3, "%02X",
				(unsigned int)((i * 37 + n * 11) % 255 + 1));
		bytes[2 * n] = 0;
		for (size_t p = 0; p < ARRAY_LEN(pairs); p++) {
			snprintf(text, sizeof(text), n ? "bin(%s),%s,%s,hex" : "str(%s),%s,%s,hex",
				bytes, pairs[p][0], pairs[p][1]);
			IS(text, bytes);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
		CASE(encode_and_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
