#include "rule/sample/fmt.h"

#include "unit/rule/expr_rig.h"

#include "base/err.h"

/* --- a vocabulary for tests --- */

static int
take_str(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	/* In the arena, like many samples from the traffic. */
	struct str copy = arena_copy(cx->arena, a->arg[0].text);

	if (!copy.p)
		return 0;
	sample_set_str(s, copy);
	return 1;
}

static int
take_odd(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	sample_set_str(s, (struct str){ "a\r\n\tb\0c\x7f\xe9\"]\\#", 13 });
	return 1;
}

static int
take_number(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)cx;
	sample_set_int(s, a->kind);
	return 1;
}

static int
take_nothing(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	(void)s;
	return 0;
}

static int checks;

static int
check(struct rule_args *a, void *root, const char **why)
{
	(void)a;
	checks++;
	*why = "there is no such thing";
	return root ? 0 : -1;
}

static const struct rule_fetch fetches[] = {
	{ .name = "str", .arg = { ARG_STR }, .min = 1, .out = SAMPLE_STR, .fetch = take_str },
	{ .name = "odd", .out = SAMPLE_STR, .fetch = take_odd },
	{ .name = "n", .out = SAMPLE_SINT, .fetch = take_number, .kind = 42, .check = check },
	{ .name = "none", .out = SAMPLE_STR, .fetch = take_nothing },
	{ .name = "req.x", .out = SAMPLE_SINT, .fetch = take_number, .needs = SAMPLE_AT_REQ },
	{ .name = NULL },
};

static void
write_name(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	(void)cx;
	rule_fmt_put(out, flags, STR("na]me"));
}

static void
write_missing(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	(void)cx;
	rule_fmt_put(out, flags, (struct str){ NULL, 0 });
}

static const struct rule_alias aliases[] = {
	{ .name = "f", .needs = SAMPLE_AT_CONN, .write = write_name },
	{ .name = "x", .needs = SAMPLE_AT_END, .write = write_missing },
	{ .name = "HM", .needs = SAMPLE_AT_TXN, .write = write_name },
	{ .name = "sslc" },
	{ .name = NULL },
};

static struct expr_rig rig;

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	rig.vocab = (struct rule_vocab){ .aliases = aliases };
	assert_int_equal(rule_vocab_add_fetches(&rig.vocab, fetches), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

/* The text that a format produces, as bytes. */
static struct str
made(const char *text, unsigned int style)
{
	static char line[512];
	struct rule_err why = { 0 };
	struct rule_fmt *f;
	struct sbuf b;
	size_t used = arena_mark(&rig.arena);

	if (rule_fmt_compile(&rig.vocab, text, style, SAMPLE_AT_CONN, &f, &why) < 0)
		fail_msg("%s: %s", text, why.text);
	sbuf_init_fixed(&b, line, sizeof(line));
	rule_fmt_write(f, &rig.cx, &b);
	assert_false(b.failed);
	assert_int_equal(arena_mark(&rig.arena), used);
	rule_fmt_free(&f);
	assert_null(f);
	return (struct str){ b.p, b.len };
}

/* As in HAProxy 2.6 for http-request return lf-string and for log-format. */
static void
test_both_styles(void **state)
{
	static const struct {
		const char *format, *text, *log;
	} rows[] = {
		{ "x", "x", "x" },
		{ "", "", "" },
		{ " a  b ", " a  b ", "a b " },
		{ "100%%", "100%", "100%" },
		{ "%%[n]", "%[n]", "%[n]" },
		{ "<%[n]>", "<42>", "<42>" },
		{ "%[str(a)]%[str(b)]", "ab", "ab" },
		{ "%[none]", "", "-" },
		{ "%[str()]%{+Q}[str()]", "", "-\"\"" },
		{ "%{+Q}[none]", "", "\"\"" },
		{ "%{+Q}[str(a)]", "a", "\"a\"" },
		{ "%{+X}[n]", "42", "42" },
		{ "%{+E}[str(a]b)]", "a\\]b", "a\\]b" },
		{ "%{+Q}o %[n] %f", " 42 \"na]me\"", "\"42\" \"na]me\"" },
		{ "%{+E}o%f %{-E}f", "na\\]me na]me", "na\\]me na]me" },
		{ "%x %{+Q}x", " \"\"", "- \"\"" },
		{ "a %{+Q}o b", "a  b", "a b" },
		{ "%[str('a b')]", "a b", "a b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(made(rows[i].format, 0).p, rows[i].text);
		assert_string_equal(made(rows[i].format, RULE_FMT_LOG).p, rows[i].log);
	}
}

/* No byte of the traffic can end a line, in a header or in a log. */
static void
test_odd_bytes(void **state)
{
	(void)state;
	assert_string_equal(made("%[odd]", 0).p, "a%0D%0A\tb%00c%7F\xe9\"]\\#");
	assert_string_equal(made("%{+E}[odd]", 0).p, "a%0D%0A\tb%00c%7F\xe9\\\"\\]\\\\#");
	assert_string_equal(made("%[odd]", RULE_FMT_LOG).p,
		"a#0D#0A\tb#00c#7F\xe9\"]\\#");
	assert_string_equal(made("%{+Q,+E}[odd]", RULE_FMT_LOG).p,
		"\"a#0D#0A\tb#00c#7F\xe9\\\"\\]\\\\#\"");
}

/* HAProxy 2.6 writes the value of an expression as it is. Here a log line stays one line. */
static void
each_byte_of_a_value_is_logged(void **state)
{
	char byte, want[8];
	struct sbuf out;

	(void)state;
	for (unsigned int c = 0; c < 256; c++) {
		int ends_a_line = (c < 0x20 && c != '\t') || c == 0x7f;

		byte = (char)c;
		snprintf(want, sizeof(want), ends_a_line ? "#%02X" : "%c", c);
		sbuf_init(&out, 0);
		rule_fmt_put(&out, RULE_FMT_LOG | RULE_FMT_VALUE, (struct str){ &byte, 1 });
		assert_string_equal(out.p, want);
		sbuf_reset(&out);
		snprintf(want, sizeof(want),
			ends_a_line ? "#%02X" : strchr("\"\\]", (int)c) ? "\\%c" : "%c", c);
		rule_fmt_put(&out, RULE_FMT_LOG | RULE_FMT_VALUE | RULE_FMT_E,
			(struct str){ &byte, 1 });
		assert_string_equal(out.p, want);
		sbuf_fini(&out);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *format;
		size_t at;
		int reason;
		const char *says;
	} rows[] = {
		{ "%", 1, ERR_SYNTAX, "the name of a variable is missing" },
		{ "100%", 4, ERR_SYNTAX, "the name of a variable is missing" },
		{ "%{+Q}%f", 5, ERR_SYNTAX, "the name of a variable is missing" },
		{ "%{", 2, ERR_SYNTAX, "'}' is missing" },
		{ "%{+", 3, ERR_UNKNOWN, "unknown flag; there are Q, X and E" },
		{ "%{+Z}f", 3, ERR_UNKNOWN, "unknown flag" },
		{ "%{Q}f", 2, ERR_SYNTAX, "'+' or '-' is expected before a flag" },
		{ "%ZZ", 1, ERR_UNKNOWN, "no variable is called '%ZZ'; a '%' itself" },
		{ "a%sslc", 2, ERR_UNSUPPORTED, "variable '%sslc' is not supported" },
		{ "%HM", 1, ERR_INVAL, "variable '%HM' is reserved for mode http" },
		{ "a %[n", 4, ERR_SYNTAX, "']' is missing after 'n'" },
		{ "a %[n b]", 4, ERR_SYNTAX, "']' is missing after 'n'" },
	};
	struct rule_err why;
	struct rule_fmt *f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(rule_fmt_compile(&rig.vocab, rows[i].format, 0, SAMPLE_AT_CONN, &f,
					 &why),
			-rows[i].reason);
		assert_null(f);
		if (!strstr(why.text, rows[i].says) || why.at != rows[i].at)
			fail_msg("%s => %s, at %zu", rows[i].format, why.text, why.at);
	}
	/* An error in an expression has its offset in the whole format. */
	assert_true(rule_fmt_compile(&rig.vocab, "abc %[nn]", 0, SAMPLE_AT_CONN, &f, &why) < 0);
	assert_int_equal(why.at, 6);
	assert_true(rule_fmt_compile(&rig.vocab, "%[req.x]", 0, SAMPLE_AT_CONN, &f, &why) < 0);
	assert_int_equal(rule_fmt_compile(&rig.vocab, "%HM%[req.x]", 0,
				 SAMPLE_AT_REQ | SAMPLE_AT_TXN, &f, &why),
		0);
	assert_int_equal(rule_fmt_needs(f), SAMPLE_AT_REQ | SAMPLE_AT_TXN);
	rule_fmt_free(&f);
}

static void
test_literal(void **state)
{
	struct rule_err why;
	struct rule_fmt *f;

	(void)state;
	assert_int_equal(rule_fmt_compile(&rig.vocab, "50%% of", 0, 0, &f, &why), 0);
	assert_string_equal(rule_fmt_literal(f), "50% of");
	assert_int_equal(rule_fmt_needs(f), 0);
	rule_fmt_free(&f);
	assert_int_equal(rule_fmt_compile(&rig.vocab, "", 0, 0, &f, &why), 0);
	assert_string_equal(rule_fmt_literal(f), "");
	rule_fmt_free(&f);
	assert_int_equal(rule_fmt_compile(&rig.vocab, "a%[n]", 0, 0, &f, &why), 0);
	assert_null(rule_fmt_literal(f));
	rule_fmt_free(&f);
	rule_fmt_free(&f);
}

static void
test_check(void **state)
{
	struct rule_err why = { 0 };
	struct rule_fmt *f;
	int root = 1;

	(void)state;
	assert_int_equal(rule_fmt_compile(&rig.vocab, "%[n]%f%[none]%[n]", 0, 0, &f, &why), 0);
	checks = 0;
	assert_int_equal(rule_fmt_check(f, &root, &why), 0);
	assert_int_equal(checks, 2);
	assert_int_equal(rule_fmt_check(f, NULL, &why), -1);
	assert_non_null(strstr(why.text, "there is no such thing"));
	rule_fmt_free(&f);
}

static void
test_bounds(void **state)
{
	static char text[2 * RULE_FMT_PARTS_MAX + 8];
	struct rule_err why;
	struct rule_fmt *f;
	struct sbuf b;
	char small[5];

	(void)state;
	for (size_t i = 0; i <= RULE_FMT_PARTS_MAX; i++)
		memcpy(text + 2 * i, "%f", 2);
	assert_int_equal(rule_fmt_compile(&rig.vocab, text, 0, 0, &f, &why), -ERR_FULL);
	assert_int_equal(why.at, 2 * RULE_FMT_PARTS_MAX + 1);
	text[2 * RULE_FMT_PARTS_MAX] = '\0';
	assert_int_equal(rule_fmt_compile(&rig.vocab, text, 0, 0, &f, &why), 0);
	sbuf_init_fixed(&b, small, sizeof(small));
	rule_fmt_write(f, &rig.cx, &b);
	assert_true(b.failed);
	assert_int_equal(small[b.len], '\0');
	rule_fmt_free(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_both_styles),
		CASE(test_odd_bytes),
		CASE(each_byte_of_a_value_is_logged),
		CASE(test_refused),
		CASE(test_literal),
		CASE(test_check),
		CASE(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
