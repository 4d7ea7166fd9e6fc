#define ROWS "unit/rule/oracle_text.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	IS("str(abc),bytes(-1)", "15: 'bytes': it is a number of bytes, from 0 on");
	IS("str(abc),bytes(1,-1)", "17: 'bytes': it is a number of bytes, from 0 on");
	IS("str(a_b),field(0,_)", "15: 'field': the index counts from 1, or from -1 backwards");
	IS("str(a_b),word(1,_,-1)", "18: 'word': the count is 0 (all that follow) or more");
	IS("str(abc),field(1,)", "17: 'field' needs a string as argument 2");
	IS("str(abc),field(1)", "16: 'field' needs a string as argument 2");
	IS("str(abc),field(9223372036854775807,_)", "(none)");
	IS("str(abc),field(-9223372036854775808,_)", "(none)");
	IS("str(abc),word(-9223372036854775808,_,9223372036854775807)", "");
	IS("bool(0),iif(https)", "17: 'iif' needs a string as argument 2");
	/* only ASCII letters have a case */
	IS("bin(c3a9c389),lower,hex", "C3A9C389");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
