/* The actions set-priority-class and set-priority-offset: arguments and effects. */
#include "proxy/sample/act_priority.h"

#include "unit/proxy/proxies_rig.h"

#include "proxy/model/http_txn.h"

static struct world w;

static void
lines_load_or_are_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "http-request set-priority-class hdr(x)", "" },
		{ "http-request set-priority-offset int(-5) if { src 10.0.0.1 }", "" },
		{ "tcp-request content set-priority-class req.len", "" },
		{ "tcp-request content set-priority-offset prio_class,mul(2)", "" },
		{ "http-request set-priority-class",
			":10:33] : 'http-request set-priority-class' expects <sample>." },
		{ "tcp-request content set-priority-offset",
			":10:41] : 'tcp-request content set-priority-offset' expects <sample>." },
		{ "http-request set-priority-class nope", ":10:34] : " },
		{ "http-request set-priority-class 5", ":10:34] : " },
		{ "http-request set-priority-class src dst", "either 'if' or 'unless'" },
		{ "http-response set-priority-class src", ":10:16] : action" },
		{ "tcp-request connection set-priority-class src", "is not for" },
		{ "tcp-request session set-priority-offset src", "is not for" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		world_rule_line(rows[i].line, rows[i].says);
}

/* Runs the frontend's rule on a session of class 7 and offset 9. */
static void
run_gives(const char *rule, int class, int offset)
{
	static struct session sess;
	static struct stream s;
	char text[512], room[256];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN, .stream = &s, .arena = &arena };
	struct rule_outcome v = { .proxy = &s };
	const struct rule *next = NULL;

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend p\n mode http\n bind :80\n"
		" default_backend b\n http-request %s\nbackend b\n mode http\n", rule);
	world_load(&w, text);
	assert_string_equal(w.printed, "");
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	s.prio_class = 7;
	s.prio_offset = 9;
	assert_int_equal(rules_run(&world_proxy(&w, "p")->rules.own[RULE_HTTP_REQUEST], &next, &cx,
				 &v),
		RULE_CONT);
	assert_int_equal(arena_mark(&arena), 0);
	assert_int_equal(s.prio_class, class);
	assert_int_equal(s.prio_offset, offset);
	world_fini(&w);
}

static void
rules_set_priorities_within_bounds(void **state)
{
	(void)state;
	run_gives("set-priority-class int(-2047)", -2047, 9);
	run_gives("set-priority-class int(2048)", 2047, 9);
	run_gives("set-priority-class int(-9223372036854775808)", -2047, 9);
	run_gives("set-priority-class str(12abc)", 12, 9);
	run_gives("set-priority-class var(txn.none)", 7, 9);
	run_gives("set-priority-offset int(-524287)", 7, -524287);
	run_gives("set-priority-offset int(9223372036854775807)", 7, 524287);
	run_gives("set-priority-offset int(-524288)", 7, -524287);
	run_gives("set-priority-offset prio_class,add(1)", 7, 8);
	run_gives("set-priority-offset var(txn.none)", 7, 9);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(rules_set_priorities_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
