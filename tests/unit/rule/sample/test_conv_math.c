#define ROWS "unit/rule/oracle_math.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	IS("int(5),add(x)", "11: 'x' is not an integer or a variable");
	IS("bin(05),add(1)", "8: 'add' cannot be applied: it takes integer, not binary");
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
