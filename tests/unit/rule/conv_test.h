/* Included by every test of converters: HAProxy's rows, in the file ROWS, and a rig. */
#ifndef TACIT_TEST_RULE_CONV_TEST_H
#define TACIT_TEST_RULE_CONV_TEST_H

#include "unit/rule/conv_rig.h"
#include "unit/test.h"

static const struct oracle_row rows[] = {
#include ROWS
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

#endif
