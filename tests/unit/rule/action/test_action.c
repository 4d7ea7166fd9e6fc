#include "unit/rule/action_rig.h"

#define REQ "GET / HTTP/1.1\r\nHost: h\r\nF: f"

static void
test_unknown(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request set-heade a b", "did you mean 'set-header'");
	action_rig_refuses(&r, "http-request", "expects an action");
	action_rig_refuses(&r, "http-request xyzzyxyzzy",
		"'http-request' has no action 'xyzzyxyzzy'.");
	action_rig_refuses(&r, "http-request set-status 200", "is not for 'http-request' rules");
	action_rig_refuses(&r, "http-request set-var a b", "is followed by '(...)'");
	action_rig_refuses(&r, "http-request deny(x)", "takes no '(...)'");
	action_rig_refuses(&r, "http-request normalize-uri x",
		"'http-request normalize-uri' is not supported");
	action_rig_refuses(&r, "tcp-request connection expect-netscaler-cip layer4",
		"is not supported");
	/* The error has the place. */
	action_rig_refuses(&r, " http-request deny nope", "t.cfg:2:20");
}

/* Actions listed as not supported do not exist. */
static void
test_unsupported_table(void **state)
{
	static const char *const names[] = {
#define ACTION_NOT(name) name,
#include "rule/action/action_not.tbl.h"
#undef ACTION_NOT
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (i > 0)
			assert_true(strcmp(names[i - 1], names[i]) < 0);
		for (unsigned int t = 0; t < r.x.vocab.n_action; t++)
			for (const struct rule_action *a = r.x.vocab.action[t]; a->name; a++)
				assert_string_not_equal(a->name, names[i]);
	}
}

/* Every action that takes arguments has a syntax text. */
static void
test_tables(void **state)
{
	(void)state;
	for (unsigned int t = 0; t < r.x.vocab.n_action; t++)
		for (const struct rule_action *a = r.x.vocab.action[t]; a->name; a++) {
			assert_non_null(a->doc);
			assert_non_null(a->run);
			assert_true(a->places != 0);
			assert_true(!a->parse || a->syntax || a->paren);
		}
}

static void
test_conditions(void **state)
{
	(void)state;
	assert_string_equal(action_rig_request(&r,
				    "acl f rq(F) f\n"
				    "http-request set-header A 1 if f\n"
				    "http-request set-header B 1 unless f\n"
				    "http-request set-header C 1 if { rq(F) g } || f\n"
				    "http-request deny if !f",
				    REQ),
		"GET / HTTP/1.1|Host: h|F: f|A: 1|C: 1|");
	action_rig_refuses(&r, "http-request deny if nosuch", "nosuch");
}

static void
test_order(void **state)
{
	(void)state;
	action_rig_good(&r, "http-request set-header A 1\nhttp-request allow\n"
			    "http-request set-header A 2");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_STOP);
	assert_null(r.next);
	assert_int_equal(r.v.by->where.line, 3);
	assert_string_equal(action_rig_show(&r, &r.req), "GET / HTTP/1.1|Host: h|F: f|A: 1|");
}

static void
test_places(void **state)
{
	(void)state;
	for (int i = 0; i < RULE_PLACES; i++) {
		assert_non_null(rule_place_name((enum rule_place)i));
		assert_true(rule_place_scope((enum rule_place)i) & SAMPLE_AT_CONN);
	}
	assert_string_equal(rule_place_name(RULE_HTTP_AFTER_RESPONSE), "http-after-response");
	assert_int_equal(rule_place_scope(RULE_TCP_CONNECTION), SAMPLE_AT_CONN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_unknown),
		ACTION_CASE(test_unsupported_table),
		ACTION_CASE(test_tables),
		ACTION_CASE(test_conditions),
		ACTION_CASE(test_order),
		ACTION_CASE(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
