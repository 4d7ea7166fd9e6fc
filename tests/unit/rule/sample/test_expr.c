#include "unit/rule/expr_rig.h"

#include "base/err.h"

/* A vocabulary for tests: the syntax is tested here, not the words. */

static int
take_str(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)cx;
	sample_set_str(s, a->n ? a->arg[0].text : STR("text"));
	return 1;
}

static int
take_nothing(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	s->may_change = 1;
	return 0;
}

static int
twice(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)cx;
	assert_int_equal(s->type, SAMPLE_SINT);
	sample_set_int(s, s->u.sint * a->kind);
	return 1;
}

static int
same(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	(void)s;
	return 1;
}

static int
no_result(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	(void)s;
	return 0;
}

static int alive, checked;

static int
init_ref(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	(void)v;
	alive++;
	a->arg[0].ref = &alive;
	if (!str_is(a->arg[1].text, STR("bad")))
		return 0;
	a->bad = 1;
	*why = "this is bad";
	return -1;
}

static void
free_ref(struct rule_args *a)
{
	assert_ptr_equal(a->arg[0].ref, &alive);
	alive--;
}

static int
check_ref(struct rule_args *a, void *root, const char **why)
{
	checked++;
	if (!str_is(a->arg[1].text, str_of(root)))
		return 0;
	a->bad = 1;
	*why = "there is no such thing";
	return -1;
}

static const struct rule_fetch fetches[] = {
	{ .name = "text", .arg = { ARG_STR }, .out = SAMPLE_STR, .fetch = take_str },
	{ .name = "bytes", .arg = { ARG_STR }, .out = SAMPLE_BIN, .fetch = take_str },
	{ .name = "nothing", .out = SAMPLE_STR, .fetch = take_nothing },
	{ .name = "req.x", .out = SAMPLE_STR, .fetch = take_str, .needs = SAMPLE_AT_REQ,
		.derives = 1, .match = "str" },
	{ .name = "res.x", .out = SAMPLE_STR, .fetch = take_str, .needs = SAMPLE_AT_RES },
	{ .name = "x", .out = SAMPLE_STR, .fetch = take_str,
		.either = SAMPLE_AT_REQ | SAMPLE_AT_RES, .acl = "req.x", .derives = 1,
		.match = "str" },
	{ .name = "held", .arg = { ARG_STR, ARG_STR }, .min = 1, .out = SAMPLE_STR,
		.fetch = take_str, .init = init_ref, .check = check_ref, .free = free_ref },
	{ .name = NULL },
};

static const struct rule_conv convs[] = {
	{ .name = "twice", .in = SAMPLE_SINT, .out = SAMPLE_SINT, .conv = twice, .kind = 2 },
	{ .name = "same", .in = SAMPLE_ANY, .out = SAMPLE_ANY, .conv = same },
	{ .name = "drop", .in = SAMPLE_ANY, .out = SAMPLE_ANY, .conv = no_result },
	{ .name = "as-text", .in = SAMPLE_STR, .out = SAMPLE_STR, .conv = same },
	{ .name = "keep", .arg = { ARG_STR, ARG_STR }, .min = 1, .in = SAMPLE_STR,
		.out = SAMPLE_STR, .conv = same, .init = init_ref, .check = check_ref,
		.free = free_ref },
	{ .name = NULL },
};

static struct expr_rig rig;

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	rig.vocab = (struct rule_vocab){ 0 };
	assert_int_equal(rule_vocab_add_fetches(&rig.vocab, fetches), 0);
	assert_int_equal(rule_vocab_add_convs(&rig.vocab, convs), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	assert_int_equal(alive, 0);
	return 0;
}

#define IS(text, result) assert_string_equal(rig_eval(&rig, text), result)

static void
converters_are_applied_in_order(void **state)
{
	(void)state;
	IS("text", "text");
	IS("text(a)", "a");
	IS("text(21),twice", "42");
	IS("text(21),twice,twice,as-text", "84");
	IS("text(\"\"),twice", "(none)");
	IS("bytes(ab)", "ab");
	IS("bytes(ab),same,as-text,twice", "0");
	IS("nothing,as-text", "(none)");
	IS("text,drop,as-text", "(none)");
	IS("held(a),keep(b),keep(c)", "a");
}

static void
mistakes_have_their_place(void **state)
{
	char many[1024] = "text";

	(void)state;
	IS("", "0: the name of a fetch is missing");
	IS("(a)", "0: the name of a fetch is missing");
	IS("txet", "0: unknown fetch 'txet'; did you mean 'text'?");
	IS("qqqqqq", "0: unknown fetch 'qqqqqq'");
	IS("ssl_fc_npn", "0: fetch 'ssl_fc_npn' is not supported");
	IS("text,", "5: the name of a converter is missing");
	IS("text,,twice", "5: the name of a converter is missing");
	IS("text,twcie", "5: unknown converter 'twcie'; did you mean 'twice'?");
	IS("text,aes_cbc_dec(a)", "5: converter 'aes_cbc_dec' is not supported");
	IS("text(a)x", "7: 'x' cannot follow: a ',' and a converter can");
	IS("text(a) ,same", "7: ' ' cannot follow: a ',' and a converter can");
	IS("text(a),same(b)", "13: 'same' takes no argument");
	IS("text(a", "6: ')' is missing behind the arguments of 'text'");
	IS("bytes,twice", "6: 'twice' cannot be applied: it takes integer, not binary");
	IS("bytes,same,twice", "11: 'twice' cannot be applied: it takes integer, not binary");
	IS("held(a,bad)", "7: 'held': this is bad");
	IS("text,keep(a,bad)", "12: 'keep': this is bad");
	IS("held(a),keep(b),keep(a,bad)", "23: 'keep': this is bad");
	for (int i = 0; i < RULE_CONVS_MAX; i++)
		strcat(many, ",same");
	IS(many, "text");
	strcat(many, ",same");
	IS(many, "325: more than 64 converters");
}

static void
fetches_need_their_part_of_the_traffic(void **state)
{
	(void)state;
	rig.cx.at = SAMPLE_AT_CONN;
	IS("req.x", "0: 'req.x' cannot be used here: it needs a request, which is not available");
	IS("res.x", "0: 'res.x' cannot be used here: it needs a response, which is not available");
	IS("x", "0: 'x' cannot be used here: it needs a request, which is not available");
	rig.cx.at = SAMPLE_AT_CONN | SAMPLE_AT_REQ;
	IS("req.x", "text");
	IS("x", "text");
	IS("res.x", "0: 'res.x' cannot be used here: it needs a response, which is not available");
	rig.cx.at = SAMPLE_AT_RES;
	IS("x", "text");
	rig.cx.at = RIG_EVERYWHERE;
}

static void
an_expression_ends_where_it_ends(void **state)
{
	static const struct {
		const char *text;
		size_t used;
	} t[] = {
		{ "text]", 4 },
		{ "text(a)]b", 7 },
		{ "text(a]),same]", 13 },
		{ "text,same same", 9 },
		{ "text)", 4 },
		{ "text", 4 },
	};
	struct rule_expr *e;
	size_t used;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(rule_expr_parse(&rig.vocab, t[i].text, strlen(t[i].text),
					 RIG_EVERYWHERE, 1, &e, &used, &rig.why), 0);
		assert_int_equal(used, t[i].used);
		rule_expr_free(&e);
		assert_null(e);
		rule_expr_free(&e);
	}
	/* only the given words are read */
	assert_int_equal(rule_expr_parse(&rig.vocab, "text,same", 4, 0, 0, &e, &used, &rig.why),
		0);
	assert_int_equal(used, 4);
	rule_expr_free(&e);
}

static void
criteria_of_acls_are_parsed(void **state)
{
	struct rule_expr *e;
	const char *match;

	(void)state;
	assert_int_equal(rule_expr_parse_acl(&rig.vocab, "x_beg", 5, SAMPLE_AT_REQ, &e, &match,
				 &rig.why), 0);
	assert_string_equal(match, "beg");
	assert_int_equal(rule_expr_needs(e), SAMPLE_AT_REQ);
	rule_expr_free(&e);
	assert_int_equal(rule_expr_parse_acl(&rig.vocab, "x_beg,twice", 11, SAMPLE_AT_REQ, &e,
				 &match, &rig.why), 0);
	assert_null(match);
	assert_int_equal(rule_expr_type(e), SAMPLE_SINT);
	rule_expr_free(&e);
	assert_int_equal(rule_expr_parse_acl(&rig.vocab, "x", 1, SAMPLE_AT_RES, &e, &match,
				 &rig.why), -ERR_INVAL);
	assert_null(e);
	assert_int_equal(rule_expr_parse_acl(&rig.vocab, "text_beg", 8, SAMPLE_AT_RES, &e, &match,
				 &rig.why), -ERR_UNKNOWN);
}

static struct rule_expr *
parse(const char *text)
{
	struct rule_expr *e;
	size_t used;

	assert_int_equal(rule_expr_parse(&rig.vocab, text, strlen(text), RIG_EVERYWHERE, 0, &e,
				 &used, &rig.why), 0);
	return e;
}

static void
names_are_checked_at_the_end(void **state)
{
	struct rule_expr *e = parse("held(a,one),keep(b,two)");
	char none[] = "none", one[] = "one", two[] = "two";

	(void)state;
	checked = 0;
	assert_int_equal(rule_expr_check(e, none, &rig.why), 0);
	assert_int_equal(checked, 2);
	assert_int_equal(rule_expr_check(e, one, &rig.why), -1);
	assert_int_equal(rig.why.at, 7);
	assert_string_equal(rig.why.text, "'held': there is no such thing: 'one'");
	assert_int_equal(rule_expr_check(e, two, &rig.why), -1);
	assert_int_equal(rig.why.at, 19);
	rule_expr_free(&e);
}

static void
results_are_cast(void **state)
{
	struct rule_expr *e = parse("text(12)");
	struct sample s;

	(void)state;
	assert_int_equal(rule_expr_eval_as(e, &rig.cx, SAMPLE_SINT, &s), 1);
	assert_int_equal(s.type, SAMPLE_SINT);
	assert_int_equal(s.u.sint, 12);
	assert_int_equal(rule_expr_eval_as(e, &rig.cx, SAMPLE_IPV6, &s), 0);
	rule_expr_free(&e);
	e = parse("nothing");
	assert_int_equal(rule_expr_eval(e, &rig.cx, &s), 0);
	assert_true(s.may_change);
	assert_int_equal(rule_expr_type(e), SAMPLE_STR);
	rule_expr_free(&e);
	/* the arena is full: not found, and counted */
	e = parse("text(12),twice,as-text");
	rig.arena.cap = 1;
	assert_int_equal(rule_expr_eval(e, &rig.cx, &s), 0);
	assert_int_equal(rig.arena.refused, 1);
	rig.arena.cap = 2;
	assert_int_equal(rule_expr_eval(e, &rig.cx, &s), 1);
	rig.arena.cap = RIG_ARENA;
	rule_expr_free(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(converters_are_applied_in_order),
		CASE(mistakes_have_their_place),
		CASE(fetches_need_their_part_of_the_traffic),
		CASE(an_expression_ends_where_it_ends),
		CASE(criteria_of_acls_are_parsed),
		CASE(names_are_checked_at_the_end),
		CASE(results_are_cast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
