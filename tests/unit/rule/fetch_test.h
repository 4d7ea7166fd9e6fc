/* Included by tests of fetches: a rig with the request MESSAGE. */
#ifndef TACIT_TEST_RULE_FETCH_TEST_H
#define TACIT_TEST_RULE_FETCH_TEST_H

#include "unit/rule/http_rig.h"
#include "unit/test.h"

static struct http_rig h;

#define IS(text, result) assert_string_equal(rig_eval(&h.r, text), result)
#define EACH(text, result) assert_string_equal(rig_each(&h, text), result)

static int
setup(void **state)
{
	(void)state;
	rig_init(&h.r);
	rig_request(&h, MESSAGE);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&h.r);
	return 0;
}

#endif
