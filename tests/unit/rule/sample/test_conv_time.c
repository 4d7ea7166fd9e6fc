#define ROWS "unit/rule/oracle_time.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	static const char many[] = "int(0),utime(%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c)";

	(void)state;
	IS("int(1700000000123),http_date(,ms)", "Tue, 14 Nov 2023 22:13:20.123 GMT");
	IS("int(-1),http_date", "Wed, 31 Dec 1969 23:59:59 GMT");
	IS("int(-1),http_date(0,ms)", "Wed, 31 Dec 1969 23:59:59.999 GMT");
	IS("int(9223372036854775807),http_date(1)", "(none)");
	IS("int(0),http_date(0,x)", "19: 'http_date': the unit is 's', 'ms' or 'us'");
	IS("int(9223372036854775807),utime(%Y)", "(none)");
	IS("int(9223372036854775807),utime(%Y,1)", "(none)");
	/* a result that is too long is empty */
	IS(many, "");
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
