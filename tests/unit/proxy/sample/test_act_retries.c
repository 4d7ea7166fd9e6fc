/* The action set-retries: arguments and effects. */
#include "proxy/sample/act_retries.h"

#include "unit/proxy/proxies_rig.h"

static struct world w;

static void
load(const char *section, const char *line)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS " mode http\n%s\n %s\n", section, line);
	world_load(&w, text);
}

static void
arguments_are_checked(void **state)
{
	static const struct {
		const char *section, *line, *says;
	} rows[] = {
		{ "backend p", "http-request set-retries 0", "" },
		{ "backend p", "http-request set-retries 100 if { path_beg /a }", "" },
		{ "listen p\n bind :80", "http-request set-retries var(txn.n)", "" },
		{ "backend p", "tcp-request content set-retries 2", "" },
		{ "backend p", "http-request set-retries", "expects <number>|<expr>" },
		{ "backend p", "http-request set-retries 101", "101" },
		{ "backend p", "http-request set-retries 1x", "1x" },
		{ "backend p", "http-request set-retries nope", "nope" },
		{ "backend p", "http-response set-retries 1", "is not for 'http-response'" },
		{ "frontend p\n bind :80", "http-request set-retries 1", "only a backend retries" },
		{ "defaults d\n mode http", "http-request set-retries 1",
			"only a backend retries" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		load(rows[i].section, rows[i].line);
		if (rows[i].says[0] ? !strstr(w.printed, rows[i].says) : w.result != 0)
			fail_msg("%s: %s", rows[i].line, w.printed);
		world_fini(&w);
	}
}

/* Runs the rule on a stream that may be tried again 7 times. */
static int
run_gives(const char *rule)
{
	static struct session sess;
	static struct stream s;
	char room[256];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN, .stream = &s, .arena = &arena };
	struct rule_outcome v = { .proxy = &s };
	const struct rule *next = NULL;
	int most;

	load("backend p\n retries 7", rule);
	memset(&s, 0, sizeof(s));
	stream_join(&s, &sess, &sess.conn);
	s.be = world_proxy(&w, "p");
	assert_int_equal(rules_run(&s.be->rules.own[RULE_HTTP_REQUEST], &next, &cx, &v), RULE_CONT);
	assert_int_equal(arena_mark(&arena), 0);
	most = stream_retries_most(&s);
	world_fini(&w);
	return most;
}

static void
a_rule_sets_retries(void **state)
{
	(void)state;
	assert_int_equal(run_gives("http-request set-retries 0"), 0);
	assert_int_equal(run_gives("http-request set-retries 100"), 100);
	assert_int_equal(run_gives("http-request set-retries int(3)"), 3);
	assert_int_equal(run_gives("http-request set-retries int(0)"), 0);
	assert_int_equal(run_gives("http-request set-retries 1 if FALSE"), 7);
	/* No value, or one out of range. */
	assert_int_equal(run_gives("http-request set-retries var(txn.none)"), 7);
	assert_int_equal(run_gives("http-request set-retries int(-1)"), 7);
	assert_int_equal(run_gives("http-request set-retries int(101)"), 7);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(a_rule_sets_retries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
