/* The action pause: arguments, and when it waits; tests/sim/http_scenarios.tbl.h plays it. */
#include "proxy/sample/act_pause.c"

#include "unit/proxy/proxies_rig.h"

static void
arguments_are_checked(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "http-request pause 10", "" },
		{ "http-request pause 2s if { path_beg /a }", "" },
		{ "http-request pause var(txn.ms)", "" },
		{ "http-response pause res.hdr(x-ms),mul(2)", "" },
		{ "http-request pause", "expects <time>|<expr>" },
		{ "http-request pause 5x", "5x" },
		{ "http-request pause 99d", "99d" },
		{ "http-request pause nope", "nope" },
		{ "http-after-response pause 1", "is not for 'http-after-response'" },
		{ "tcp-request content pause 1", "is not for 'tcp-request content'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		world_rule_line(rows[i].line, rows[i].says);
}

/* The time of the rule on a stream without variables. */
static uint64_t
time_of(const char *rule)
{
	static struct world w;
	static struct session sess;
	static struct stream s;
	char text[512], room[256];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN, .stream = &s, .arena = &arena };
	uint64_t ms;

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend p\n mode http\n bind :80\n"
		" default_backend b\n http-request pause %s\nbackend b\n mode http\n", rule);
	world_load(&w, text);
	assert_string_equal(w.printed, "");
	memset(&s, 0, sizeof(s));
	stream_join(&s, &sess, &sess.conn);
	ms = eval_pause(list_first(&world_proxy(&w, "p")->rules.own[RULE_HTTP_REQUEST],
				struct rule, link), &cx);
	assert_int_equal(arena_mark(&arena), 0);
	world_fini(&w);
	return ms;
}

static void
values_that_are_no_times_are_ignored(void **state)
{
	(void)state;
	assert_int_equal(time_of("0"), 0);
	assert_int_equal(time_of("1"), 1);
	assert_int_equal(time_of("3s"), 3000);
	assert_int_equal(time_of("int(250)"), 250);
	assert_int_equal(time_of("int(0)"), 0);
	assert_int_equal(time_of("int(-5)"), 0);
	assert_int_equal(time_of("int(9223372036854775807)"), 0);
	assert_int_equal(time_of("str(abc)"), 0);
	assert_int_equal(time_of("var(txn.none)"), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(values_that_are_no_times_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
