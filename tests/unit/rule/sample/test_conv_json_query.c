#define ROWS "unit/rule/oracle_json_query.tbl.h"
#include "unit/rule/expr_rig.h"

#define INDEX_WORDS "a number from 0 on, or a name in quotes, is expected behind '['"
#define QUERY(json, path) "str('" json "'),json_query(" path ")"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	/* HAProxy has six digits of a number: 1.23457e+07 */
	IS(QUERY("{\"a\":12345678}", "$.a"), "12345678");
	IS(QUERY("{\"a\":9223372036854775808}", "$.a"), "9223372036854775808");
	IS(QUERY("{\"a\":3.14159265}", "$.a"), "3.14159265");
	IS(QUERY("{\"a\":1e3}", "$.a"), "1e3");
	/* HAProxy takes the digits before 'e', and no number from 2^53 on */
	IS(QUERY("{\"a\":1e3}", "$.a,int"), "1000");
	IS(QUERY("{\"a\":9223372036854775807}", "$.a,int"), "9223372036854775807");
	IS(QUERY("{\"a\":9223372036854775808}", "$.a,int"), "(none)");
	/* HAProxy knows neither the escape \/ nor code points above U+00FF, and makes a NUL of
	 * \u0000 */
	IS("bin(7b2261223a225c2f5c75303065395c75323061635c75643833645c7564653030227d),"
	   "json_query($.a)",
		"/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	IS("bin(7b2261223a225c753030303062227d),json_query($.a)", "(none)");
	/* a name may have escapes */
	IS("bin(7b225c7530303631223a317d),json_query($.a)", "1");
	/* HAProxy reads 007 as 7 */
	IS(QUERY("{\"a\":007}", "$.a"), "(none)");
	IS(QUERY("{\"a\":1}", "'$[\"a\"]'"), "1");
	IS(QUERY("{\"a.b\":[{\"c d\":1}]}", "\"$['a.b'][0]['c d']\""), "1");
	IS("str(eyJhIjoxfQ.eyJiIjoyfQ),jwt_header_query", "7B2261223A317D");
	IS("str(eyJhIjoxfQ.eyJiIjoyfQ),jwt_payload_query()", "7B2262223A327D");
}

/* The value has a type of its own, whatever the text came as. */
static void
values_of_bytes_can_be_converted(void **state)
{
	(void)state;
	IS("bin(7b2261223a317d),json_query($.a,int),add(1)", "2");
	IS("bin(7b2261223a317d),json_query($.a),add(1)", "2");
	IS("bin(7b2261223a2231302e302e302e31227d),json_query($.a),ipmask(8)", "10.0.0.0");
	IS("bin(080a),protobuf(1,int32),add(1)", "11");
}

static void
bad_paths(void **state)
{
	(void)state;
	IS("str(a),json_query", "17: 'json_query' needs a string as argument 1");
	IS("str(a),json_query(a)", "18: 'json_query': it begins with '$'");
	IS("str(a),json_query($a)", "18: 'json_query': '.' or '[' is expected");
	IS("str(a),json_query($.)", "18: 'json_query': a name is missing behind '.'");
	IS("str(a),json_query($..a)", "18: 'json_query': a name is missing behind '.'");
	IS("str(a),json_query($.*)",
		"18: 'json_query': '*' stands for several values, which is not supported");
	IS("str(a),json_query($[*])",
		"18: 'json_query': " INDEX_WORDS);
	IS("str(a),json_query($[-1])",
		"18: 'json_query': " INDEX_WORDS);
	IS("str(a),json_query($[99999999999999999999])",
		"18: 'json_query': " INDEX_WORDS);
	IS("str(a),json_query($[1)", "18: 'json_query': ']' is missing");
	IS("str(a),json_query(\"$['a]\")", "18: 'json_query': a quote is not closed");
	IS("str(a),json_query(\"$['a'\")", "18: 'json_query': ']' is missing");
	IS("str(a),json_query($.a,str)", "22: 'json_query': the only type is 'int'");
	IS("str(a),jwt_header_query(,int)", "25: 'jwt_header_query': a type needs a path");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
		CASE(values_of_bytes_can_be_converted),
		CASE(bad_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
