/* Included by every test of actions: a rig of its own. */
#ifndef TACIT_TEST_RULE_ACTION_TEST_H
#define TACIT_TEST_RULE_ACTION_TEST_H

#include "unit/rule/action_rig.h"

static struct action_rig r;

static int
setup(void **state)
{
	(void)state;
	action_rig_init(&r);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	action_rig_fini(&r);
	return 0;
}

#endif
