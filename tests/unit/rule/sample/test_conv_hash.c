#define ROWS "unit/rule/oracle_hash.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	IS("str(abc),crc32(x)", "15: 'x' is not an integer");
	IS("str(abc),wt6", "9: converter 'wt6' is not supported");
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
