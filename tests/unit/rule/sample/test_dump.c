#include "rule/sample/dump.h"

#include "unit/rule/expr_rig.h"

static const struct rule_fetch fetches[] = {
	{ .name = "b", .out = SAMPLE_STR, .doc = "Text." },
	{ .name = "a-x", .out = SAMPLE_ADDR, .syntax = "[<n>]", .doc = ".dot \\1." },
	{ .name = NULL },
};

static const struct rule_fetch more[] = {
	{ .name = "aa", .out = SAMPLE_SINT, .doc = "Number." },
	{ .name = NULL },
};

static const struct rule_conv convs[] = {
	{ .name = "low", .in = SAMPLE_STR, .out = SAMPLE_BIN, .syntax = "<x>", .doc = "Low." },
	{ .name = NULL },
};

static void
lists(void **state)
{
	struct rule_vocab v = { 0 };
	struct sbuf out;

	(void)state;
	assert_int_equal(rule_vocab_add_fetches(&v, fetches), 0);
	assert_int_equal(rule_vocab_add_fetches(&v, more), 0);
	assert_int_equal(rule_vocab_add_convs(&v, convs), 0);
	sbuf_init(&out, 0);
	rule_dump_fetches(&v, &out);
	assert_string_equal(out.p, "a-x([<n>]): ip\naa: integer\nb: string\n");
	sbuf_reset(&out);
	rule_dump_convs(&v, &out);
	assert_string_equal(out.p, "low(<x>): binary => string\n");
	sbuf_reset(&out);
	rule_dump_man(&v, &out);
	assert_non_null(strstr(out.p,
		".TP\n\\fBa\\-x\\fR(\\fI[<n>]\\fR)\n\\&.dot \\e1.\n.br\n(ip)\n"));
	assert_non_null(strstr(out.p, ".TP\n\\fBlow\\fR(\\fI<x>\\fR)\nLow.\n.br\n(string to "));
	sbuf_fini(&out);
}

/* Each row of the real tables has its line, in order, and none breaks the page. */
static void
all(void **state)
{
	static struct expr_rig r;
	struct sbuf out;
	unsigned int rows = 0, lines = 0;
	const char *last = "";

	(void)state;
	rig_init(&r);
	sbuf_init(&out, 0);
	rule_dump_fetches(&r.vocab, &out);
	for (unsigned int i = 0; i < r.vocab.n_fetch; i++)
		for (const struct rule_fetch *f = r.vocab.fetch[i]; f->name; f++)
			rows++;
	for (char *p = out.p, *end; (end = strchr(p, '\n')); p = end + 1, lines++) {
		*end = '\0';
		p[strcspn(p, "(:")] = '\0';
		assert_true(strcmp(last, p) < 0);
		last = p;
	}
	assert_int_equal(lines, rows);
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	rule_dump_man(&r.vocab, &out);
	for (const char *p = out.p; (p = strchr(p, '\n')); p++)
		if (p[1] == '.')
			assert_non_null(strstr(".TP .br .SH .BR",
				(char[]){ '.', p[2], p[3], '\0' }));
	sbuf_fini(&out);
	rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
