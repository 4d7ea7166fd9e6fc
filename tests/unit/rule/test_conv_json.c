#include "unit/rule/conv_rig.h"

static const struct oracle_row rows[] = {
#include "unit/rule/oracle_json.tbl.h"
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
	IS("str(abc),json(foo)", "14: 'json': the input is ascii, utf8, utf8s, utf8p or utf8ps");
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
