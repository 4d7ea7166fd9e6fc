#include "rule/sample/dump.h"
#include "rule/sample/regex.h"

#include "unit/rule/expr_rig.h"

static const struct rule_fetch fetches[] = {
	{ .name = "b", .out = SAMPLE_STR, .doc = "Text.", .derives = 1 },
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

/* Appends an entry as "heading|name(syntax)|place" and its description. */
static void
note_entry(void *arg, const struct cfg_entry *e)
{
	sbuf_addf(arg, "%s|%s(%s)|%s\n%s\n", e->heading, e->name, e->syntax ? e->syntax : "",
		e->place, e->doc);
}

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
	rule_sample_entries(&v, note_entry, &out);
	assert_non_null(strstr(out.p, "FETCHES|a-x([<n>])|A fetch: ip.\n.dot \\1.\n"));
	assert_non_null(strstr(out.p, "FETCHES|b()|A fetch: string. In ACLs also b_beg, b_dir, "));
	assert_non_null(
		strstr(out.p, "CONVERTERS|low(<x>)|A converter: string to binary.\nLow.\n"));
	sbuf_fini(&out);
}

/* Each row of the real tables has its line, in order. */
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
	rig_fini(&r);
}

/* Evaluates a line "<expression> gives <text>" of an example. */
static void
check_example(struct expr_rig *r, const char *name, const char *line, size_t len)
{
	static const char gives[] = " gives ";
	const char *at = memmem(line, len, gives, sizeof(gives) - 1);
	char expr[256], want[256];

	if (!at)
		return;
	snprintf(expr, sizeof(expr), "%.*s", (int)(at - line), line);
	at += sizeof(gives) - 1;
	snprintf(want, sizeof(want), "%.*s", (int)(line + len - at), at);
	if (!strstr(expr, name))
		fail_msg("the example of %s does not use it: %s", name, expr);
	if (strcmp(rig_eval(r, expr), want) != 0)
		fail_msg("%s gives %s, not %s", expr, rig_eval(r, expr), want);
}

static void
examples_of_converters_are_true(void **state)
{
	static struct expr_rig r;
	unsigned int n = 0;

	(void)state;
	rig_init(&r);
	r.cx.regex = regex_work_new();
	assert_non_null(r.cx.regex);
	for (unsigned int i = 0; i < r.vocab.n_conv; i++)
		for (const struct rule_conv *c = r.vocab.conv[i]; c->name; c++)
			for (const char *p = c->example; p && *p; n++) {
				size_t len = strcspn(p, "\n");

				check_example(&r, c->name, p, len);
				p += len + (p[len] == '\n');
			}
	assert_true(n >= 40);
	regex_work_free(&r.cx.regex);
	rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(examples_of_converters_are_true),
		cmocka_unit_test(all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
