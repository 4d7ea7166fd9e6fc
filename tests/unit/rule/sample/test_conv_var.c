#define ROWS "unit/rule/oracle_var.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	IS("str(a),add_item(\",\",,)", "20: 'add_item': a variable or a suffix is needed");
	IS("str(a),concat(<,bad,>)",
		"16: 'bad': a variable's name begins with its scope: proc. sess. txn. req. res. or "
		"check.");
	IS("str(a),set-var(txn.x,foo)",
		"21: 'set-var': the conditions are ifexists, ifnotexists, ifempty, ifnotempty, "
		"ifset, ifnotset, ifgt and iflt");
	IS("int(5),set-var(txn.n,ifgt)", "5");
	IS("int(5),set-var(txn.n,ifgt)", "(none)");
	IS("int(9),set-var(txn.n,iflt)", "9");
	/* a variable that is read while it is set */
	IS("var(txn.v),set-var(txn.v),upper,lower", "val");
	IS("var(txn.v),unset-var(txn.v),lower", "val");
	IS("var(txn.v)", "(none)");
	IS("str(q),set-var(proc.p,ifexists)", "q");
	IS("var(proc.p)", "q");
	rig.cx.txn = NULL;
	IS("str(q),set-var(txn.x)", "(none)");
	IS("str(q),unset-var(txn.x)", "q");
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
