#define ROWS "unit/rule/oracle_ip.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	IS("str(a:b:c),port_only", "0");
	IS("str(a:65535),port_only", "65535");
	IS("str(a:65536),port_only", "0");
	IS("str(a:99999999999999999999),port_only", "0");
	IS("ipv4(1.2.3.4),ipmask()", "21: 'ipmask' needs an IPv4 mask as argument 1");
	IS("bool(1),ipmask(24)", "8: 'ipmask' cannot be applied: it takes ip, not boolean");
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
