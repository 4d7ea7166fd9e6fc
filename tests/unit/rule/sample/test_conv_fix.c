#define ROWS "unit/rule/oracle_fix.tbl.h"
#include "unit/rule/expr_rig.h"

#define TAGS                                                                       \
	"a tag is a number from 1 to 2147483647, BeginString, BodyLength, MsgType, " \
	"SenderCompID, TargetCompID or CheckSum"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	/* 49 and 35 are empty: the manual allows no empty value, and HAProxy takes both */
	IS("bin(383d4649582e342e3401393d390133353d410134393d0131303d30393901),fix_is_valid", "0");
	IS("bin(383d4649582e342e3401393d390133353d0134393d530131303d31313701),fix_is_valid", "0");
	/* a field out of its place: HAProxy waits for more */
	IS("bin(383d4649582e342e340133353d4101),fix_is_valid", "0");
	IS("bin(393d3501),fix_is_valid", "0");
	IS("bin(7801),fix_is_valid", "0");
	IS("str(a),fix_tag_value(99999999999)", "21: 'fix_tag_value': " TAGS);
}

static void
bad_arguments(void **state)
{
	(void)state;
	IS("str(a),fix_tag_value", "20: 'fix_tag_value' needs a string as argument 1");
	IS("str(a),fix_tag_value(0)", "21: 'fix_tag_value': " TAGS);
	IS("str(a),fix_tag_value(-1)", "21: 'fix_tag_value': " TAGS);
	IS("str(a),fix_tag_value(35x)", "21: 'fix_tag_value': " TAGS);
	IS("str(a),fix_tag_value(foo)", "21: 'fix_tag_value': " TAGS);
	IS("str(a),fix_tag_value(2147483647)", "(none)");
	IS("str(a),fix_tag_value(msgtype)", "(none)");
}

/* While a message comes in, the result is open; then it is valid, whatever follows. */
static void
coming_message(void **state)
{
	/* 8=FIX.4.4, 9=5, 35=0, 10=163 */
	static const char whole[] = "383d4649582e342e3401393d350133353d300131303d31363301";
	char text[128];

	(void)state;
	for (size_t n = 2; n < sizeof(whole); n += 2) {
		(void)snprintf(text, sizeof(text), "bin(%.*s),fix_is_valid", (int)n, whole);
		IS(text, n == sizeof(whole) - 1 ? "1" : "(none)");
	}
	(void)snprintf(text, sizeof(text), "bin(%s38),fix_is_valid", whole);
	IS(text, "1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
		CASE(bad_arguments),
		CASE(coming_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
