#define ROWS "unit/rule/oracle_language.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	/* as in the manual; HAProxy takes the first language of the list with the same base */
	IS("str(\"en-GB, en;q=0.8\"),language(en;en-GB)", "en-GB");
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
