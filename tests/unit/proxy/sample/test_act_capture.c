/* The action `capture`: arguments and effects. */
#include "proxy/sample/capture_rule.h"

#include "unit/proxy/proxies_rig.h"

#include "proxy/model/http_txn.h"
#include "proxy/model/session.h"
#include "fake/print_diag.h"

static int
parse_rule(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct proxy *p = ctx->obj;
	enum rule_place place = (enum rule_place)ctx->kw->arg;

	return rule_parse(&p->rules.own[place], place, &p->acls, &ps->vocab, ctx);
}

#define RULES(n, place)                                                                    \
	{                                                                                  \
		.name = n, .sections = CFG_PROXIES, .max = CFG_ANY, .parse = parse_rule,   \
		.arg = place                                                               \
	}

static const struct cfg_kw kws[] = {
	RULES("test http-request", RULE_HTTP_REQUEST),
	RULES("test http-response", RULE_HTTP_RESPONSE),
	RULES("test http-after-response", RULE_HTTP_AFTER_RESPONSE),
	RULES("test tcp-request content", RULE_TCP_REQ_CONTENT),
	RULES("test tcp-request connection", RULE_TCP_CONNECTION),
	{ 0 },
};

static const struct cfg_module module = { .name = "test", .kws = kws };

static struct world w;

/* Like world_load(), with the keywords above. */
static int
load(const char *text)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_reader_opts opts = { .root = &w, .registry = &w.registry, .diag = &w.diag,
		.env = &w.env, .sys = &w.sys, .facts = &facts };
	int bad = 0;
	FILE *f;

	world_load(&w, WORLD_DEFAULTS);
	cfg_reader_fini(&w.reader);
	assert_int_equal(cfg_registry_add(&w.registry, &module), 0);
	cfg_reader_init(&w.reader, &opts);
	bad |= cfg_reader_text(&w.reader, "t.cfg", text, strlen(text));
	bad |= cfg_reader_end(&w.reader);
	list_each(it, &w.proxies.all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		capture_conf_finish(&p->captures);
		for (unsigned int i = 0; i < RULE_PLACES; i++)
			bad |= rules_check(&p->rules.own[i], &w.proxies, &w.diag);
	}
	f = fmemopen(w.printed, sizeof(w.printed), "w");
	assert_non_null(f);
	print_diag(&w.diag, f, 0);
	(void)fclose(f);
	return bad;
}

static void
lines_load_or_are_refused(void **state)
{
	/* The results of HAProxy 2.6. */
	static const struct {
		const char *section, *line, *says;
	} rows[] = {
		{ "frontend", "http-request capture src len 5", NULL },
		{ "frontend", "http-request capture src len 5 if { src 10.0.0.1 }", NULL },
		{ "frontend", "http-request capture src", "expects <sample> len <length>|id <" },
		{ "frontend", "http-request capture src len", "expects <sample> len <length>|id" },
		{ "frontend", "http-request capture", "expects <sample> len <length>|id <" },
		{ "frontend", "http-request capture src len 0", "out of range (1..65535)" },
		{ "frontend", "http-request capture src len 5 id 0", "either 'if' or 'unless'" },
		{ "frontend", "http-request capture src size 5", "expects <sample> len" },
		{ "frontend", "http-request capture src id x", "not an integer" },
		{ "frontend", "http-request capture src id -1", "out of range (0..255)" },
		{ "frontend", "http-request capture src id 0", "declares no capture 0 of the req" },
		{ "frontend", "http-request capture nope len 5", "unknown fetch 'nope'" },
		{ "frontend", "http-response capture src len 5", "expects <sample> id <number>" },
		{ "frontend", "http-response capture src id 0", "no capture 0 of the response" },
		{ "frontend", "http-after-response capture src id 0", "capture 0 of the respo" },
		{ "frontend", "tcp-request content capture src len 5", NULL },
		{ "frontend", "tcp-request content capture src id 0", "<sample> len <length>" },
		{ "frontend", "tcp-request connection capture src len 5", "is not for" },
		/* A backend may be used by any frontend. */
		{ "backend", "http-request capture src len 5", "'p' is no frontend" },
		{ "backend", "http-request capture src id 5", NULL },
		{ "backend", "http-response capture src id 5", NULL },
		{ "listen", "http-request capture src id 5", "'p' declares no capture 5" },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int bad;

		(void)snprintf(text, sizeof(text), "%s p\n test %s\n", rows[i].section,
			rows[i].line);
		bad = load(text);
		if (rows[i].says ? !bad || !strstr(w.printed, rows[i].says)
				 : bad || w.printed[0])
			fail_msg("%s=> %d\n%s", text, bad, w.printed);
		world_fini(&w);
	}
}

static void
is(const struct stream *s, enum capture_kind kind, unsigned int i, const char *want)
{
	struct str got;

	assert_int_equal(capture_get(s, kind, i, &got), want != NULL);
	if (want && !str_is(got, str_of(want)))
		fail_msg("\"%.*s\", not \"%s\"", (int)got.len, got.p, want);
}

static void
run(const struct proxy *p, enum rule_place place, struct sample_ctx *cx)
{
	struct rule_outcome v = { 0 };
	const struct rule *next = NULL;

	assert_int_equal(rules_run(&p->rules.own[place], &next, cx, &v), RULE_CONT);
}

/* Rules of a backend fill the slots that the frontend declares, and no others. */
static void
rules_of_a_backend_fill_declared_slots(void **state)
{
	static struct engine e;
	static struct session sess;
	static struct stream s;
	char room[64];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN, .stream = &s, .arena = &arena };
	struct proxy *f, *b;

	(void)state;
	assert_int_equal(load("frontend f\n declare capture request len 2\n"
			      " declare capture response len 9\n"
			      " test http-request capture str(abcdef) len 4\n"
			      "backend b\n test http-request capture str(xyz),upper id 0\n"
			      " test http-request capture str(no) id 9\n"
			      " test http-request capture var(txn.none) id 1\n"
			      " test http-response capture int(7) id 0\n"),
		0);
	f = world_proxy(&w, "f");
	b = world_proxy(&w, "b");
	stream_join(&s, &sess, &sess.conn);
	s.engine = &e;
	s.sess->fe = f;
	engine_allow_captures(&e, f->captures.size);
	captures_begin(&s);
	run(f, RULE_HTTP_REQUEST, &cx);
	is(&s, CAPTURE_REQUEST, 0, NULL);
	is(&s, CAPTURE_REQUEST, 1, "abcd");
	run(b, RULE_HTTP_REQUEST, &cx);
	is(&s, CAPTURE_REQUEST, 0, "XY");
	/* A missing sample changes nothing. */
	is(&s, CAPTURE_REQUEST, 1, "abcd");
	run(b, RULE_HTTP_RESPONSE, &cx);
	is(&s, CAPTURE_RESPONSE, 0, "7");
	assert_int_equal(arena_mark(&arena), 0);
	captures_end(&s);
	pool_fini(&e.pools.capture);
	world_fini(&w);
}

/* In mode tcp a rule waits for a sample that data may still bring. */
static void
waits_for_data(void **state)
{
	static struct engine e;
	static struct session sess;
	static struct stream s;
	char room[64];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN | SAMPLE_AT_REQ,
		.stream = &s,
		.arena = &arena,
		.req_bytes = { "ab", 2 } };
	struct rule_outcome v = { 0 };
	const struct rule *next = NULL;
	struct proxy *f;
	struct list *rules;

	(void)state;
	assert_int_equal(
		load("frontend f\n test tcp-request content capture req.payload(0,3) len 9\n"), 0);
	f = world_proxy(&w, "f");
	rules = &f->rules.own[RULE_TCP_REQ_CONTENT];
	stream_join(&s, &sess, &sess.conn);
	s.engine = &e;
	s.sess->fe = f;
	engine_allow_captures(&e, f->captures.size);
	captures_begin(&s);
	assert_int_equal(rules_run(rules, &next, &cx, &v), RULE_YIELD);
	is(&s, CAPTURE_REQUEST, 0, NULL);
	cx.req_bytes = STR("abcd");
	assert_int_equal(rules_run(rules, &next, &cx, &v), RULE_CONT);
	is(&s, CAPTURE_REQUEST, 0, "abc");
	/* The delay has ended. */
	cx.req_bytes = STR("ab");
	cx.req_ended = 1;
	next = NULL;
	assert_int_equal(rules_run(rules, &next, &cx, &v), RULE_CONT);
	captures_end(&s);
	pool_fini(&e.pools.capture);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(rules_of_a_backend_fill_declared_slots),
		cmocka_unit_test(waits_for_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
