#include "unit/rule/conv_rig.h"

static const struct oracle_row rows[] = {
#include "unit/rule/oracle_ip.tbl.h"
};

static void
as_haproxy(void **state)
{
	(void)state;
	rig_check_rows(rows, ARRAY_LEN(rows));
}

static struct expr_rig rig;

#define IS(text, result) assert_string_equal(rig_eval(&rig, text), result)

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	rig_set_vars(&rig);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

static void
our_own(void **state)
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
		cmocka_unit_test_setup_teardown(our_own, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
