#define ROWS "unit/rule/oracle_protobuf.tbl.h"
#include "unit/rule/expr_rig.h"

#define FIELD_WORDS "a field is a number from 1 to 536870911; '.' leads into a message"
#define TYPE_WORDS \
	"the type is int32, int64, uint32, uint64, sint32, sint64, bool, enum, fixed64, " \
	"sfixed64, double, fixed32, sfixed32 or float"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	/* HAProxy takes a field without a value for an empty one, and drops bits above 64 */
	IS("bin(08),protobuf(1)", "(none)");
	IS("bin(08ffffffffffffffffff02),protobuf(1,uint64)", "(none)");
	/* HAProxy reads compressed messages */
	IS("bin(00000000020801),ungrpc(1,int32)", "1");
	IS("bin(01000000020801),ungrpc(1,int32)", "(none)");
	/* not a number, and numbers beyond 64 bits */
	IS("bin(09000000000000f87f),protobuf(1,double)", "0");
	IS("bin(09000000000000f07f),protobuf(1,double)", "9223372036854775807");
	IS("bin(09000000000000f0ff),protobuf(1,double)", "-9223372036854775808");
	IS("bin(0d000080ff),protobuf(1,float)", "-9223372036854775808");
	IS("bin(0800),protobuf(0)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(536870912)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(99999999999)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(1..2)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(.1)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(1.0)", "19: 'protobuf': " FIELD_WORDS);
}

static void
bad_arguments(void **state)
{
	(void)state;
	IS("bin(0800),protobuf", "18: 'protobuf' needs a string as argument 1");
	IS("bin(0800),protobuf(1.)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(-1)", "19: 'protobuf': " FIELD_WORDS);
	IS("bin(0800),protobuf(1,)", "21: 'protobuf': " TYPE_WORDS);
	IS("bin(0800),protobuf(1,string)", "21: 'protobuf': " TYPE_WORDS);
	IS("bin(0800),protobuf(536870911)", "(none)");
}

/* Nothing behind the end of a cut message is found. */
static void
cut_messages(void **state)
{
	/* 1: 150; 2: { 3: "abc" }; 4: fixed64 */
	static const char whole[] = "08960112051a03616263210102030405060708";
	char text[128];

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n += 2) {
		(void)snprintf(text, sizeof(text), n ? "bin(%.*s),protobuf(4,fixed64)"
						     : "str(%.*s),protobuf(4,fixed64)",
			(int)n, whole);
		IS(text, n == sizeof(whole) - 1 ? "578437695752307201" : "(none)");
		(void)snprintf(text, sizeof(text), n ? "bin(%.*s),protobuf(2.3)"
						     : "str(%.*s),protobuf(2.3)",
			(int)n, whole);
		IS(text, n >= 20 ? "616263" : "(none)");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
		CASE(bad_arguments),
		CASE(cut_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
