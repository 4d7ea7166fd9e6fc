#define ROWS "unit/rule/oracle_json.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	IS("str(abc),json(foo)", "14: 'json': the input is ascii, utf8, utf8s, utf8p or utf8ps");
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
