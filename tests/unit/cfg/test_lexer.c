#include <stdlib.h>
#include <string.h>

#include "base/sbuf.h"
#include "cfg/lexer.h"
#include "unit/test.h"

static const char *
lookup(void *arg, const char *name)
{
	static const char *const vars[][2] = {
		{ "X", "a b  c" }, { "E", "" }, { "B", "  " }, { "HASH", "a # b" }, { "Q", "a\"b" },
		{ ".LINE", "7" },
	};

	(void)arg;
	for (unsigned i = 0; i < sizeof(vars) / sizeof(vars[0]); i++)
		if (strcmp(vars[i][0], name) == 0)
			return vars[i][1];
	return NULL;
}

/* Words as [a][b], or the error as !text@column. */
static void
check(const char *line, const char *want)
{
	struct cfg_lexer lx;
	struct sbuf out;
	int rc;

	cfg_lexer_init(&lx, lookup, NULL);
	sbuf_init(&out, 0);
	rc = cfg_lexer_line(&lx, line, strlen(line));
	if (rc < 0)
		sbuf_addf(&out, "!%s@%u", cfg_lexer_strerror(rc), lx.errcol);
	for (unsigned i = 0; rc == 0 && i < lx.nword; i++)
		sbuf_addf(&out, "[%s]", lx.word[i].text);
	if (strcmp(out.p ? out.p : "", want) != 0)
		fail_msg("line <%s>: got %s, want %s", line, out.p ? out.p : "", want);
	sbuf_fini(&out);
	cfg_lexer_fini(&lx);
}

/* Each line was first given to Debian's haproxy as the argument of .notice. */
static void
quotes_and_escapes_are_haproxys(void **state)
{
	static const char *const t[][2] = {
		{ "", "" },
		{ " \t ", "" },
		{ "a b\tc", "[a][b][c]" },
		{ "  a  ", "[a]" },
		{ "a b\r", "[a][b]" },
		{ "a#b", "[a]" },
		{ "# a", "" },
		{ "a \\#b", "[a][#b]" },
		{ "\"a#b\"", "[a#b]" },
		{ "a\"b c\"d", "[ab cd]" },
		{ "a\\ b", "[a b]" },
		{ "\\q", "[\\q]" },
		{ "\"\\q\"", "[\\q]" },
		{ "\\x41\\x42", "[AB]" },
		{ "\"\\x41\"", "[A]" },
		{ "'\\x41'", "[\\x41]" },
		{ "a\\rb\\n\\t", "[a\rb\n\t]" },
		{ "a\\'b", "[a'b]" },
		{ "'a\\'", "[a\\]" },
		{ "\"a\\\"b\"", "[a\"b]" },
		{ "\"\"\"\"", "[]" },
		{ "a \"\" b", "[a][][b]" },
		{ "\"a\"'b'", "[ab]" },
		{ "\"'\"", "[']" },
		{ "'\"'", "[\"]" },
		{ "a\\", "[a\\]" },
		{ "$1 ${ $X", "[$1][${][$X]" },
		{ "\"\\$X\" \\$X", "[$X][\\$X]" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(t[i][0], t[i][1]);
}

static void
variables_are_expanded(void **state)
{
	static const char *const t[][2] = {
		{ "\"$X\"", "[a b  c]" },
		{ "\"${X}y\"", "[a b  cy]" },
		{ "\"$X-y\"", "[a b  c-y]" },
		{ "\"$X$X\"", "[a b  ca b  c]" },
		{ "\"${X[*]}\"", "[a][b][c]" },
		{ "\"z${X[*]}y\" w", "[za][b][cy][w]" },
		{ "\"$X[*]\"", "[a b  c[*]]" },
		{ "\"$NOPE\"", "[]" },
		{ "\"$NOPE-def\"", "[-def]" },
		{ "\"${NOPE-def ault}\"", "[def ault]" },
		{ "\"${NOPE-}\"", "[]" },
		{ "\"${E-def}\"", "[]" },
		{ "\"${NOPE-${X}}\"", "[${X}]" },
		{ "\"${NOPE-$X}\"", "[$X]" },
		{ "\"${NOPE-a\"b}\"", "[a\"b]" },
		{ "\"${NOPE-a\\}b}\"", "[a\\b}]" },
		{ "\"${NOPE-a b[*]}\"", "[a b[*]]" },
		{ "\"${NOPE[*]-a b}\"", "[a][b]" },
		{ "\"${X[*]-q}\"", "[a][b][c]" },
		{ "a \"${NOPE[*]}\" b", "[a][b]" },
		{ "a \"${E[*]}\"", "[a]" },
		{ "a \"${B[*]}\" b", "[a][b]" },
		{ "a x\"${E[*]}\" b", "[a][x][b]" },
		{ "a \"${E[*]}\"\"\" b", "[a][][b]" },
		{ "\"${HASH}\"", "[a # b]" },
		{ "\"${Q}\"", "[a\"b]" },
		{ "\"${.LINE}$.LINE\"", "[77]" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(t[i][0], t[i][1]);
}

static void
errors_have_their_column(void **state)
{
	static const char *const t[][2] = {
		{ "x \"a", "!unmatched quote@3" },
		{ "x 'a", "!unmatched quote@3" },
		{ "  \"a\" 'b\"", "!unmatched quote@7" },
		{ "x \\x4", "!truncated or invalid hexadecimal sequence@3" },
		{ "x \\xg0", "!truncated or invalid hexadecimal sequence@3" },
		{ "x \"\\x00\"", "!stray NUL character@4" },
		{ "x \"${X", "!unmatched brace in environment variable name@5" },
		{ "x \"${X\"", "!unmatched brace in environment variable name@5" },
		{ "x \"${X x}\"", "!unmatched brace in environment variable name@5" },
		{ "x \"${X+y}\"", "!unmatched brace in environment variable name@5" },
		{ "x \"${NOPE-", "!unmatched brace in environment variable name@5" },
		{ "x \"$\"", "!forbidden first character in environment variable name@5" },
		{ "x \"$1\"", "!forbidden first character in environment variable name@5" },
		{ "x \"$.FOO\"", "!forbidden first character in environment variable name@5" },
		{ "x \"${.FOO-y}\"", "!forbidden first character in environment variable name@6" },
		{ "x \"${}\"", "!forbidden first character in environment variable name@6" },
		{ "x \"${X[0]}\"", "!truncated or invalid word expansion sequence@7" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(t[i][0], t[i][1]);
}

static void
words_have_their_columns(void **state)
{
	static const char line[] = "\ta  \"b c\" \"${X[*]}\" d";
	static const unsigned want[] = { 2, 5, 11, 11, 11, 21 };
	struct cfg_lexer lx;

	(void)state;
	cfg_lexer_init(&lx, lookup, NULL);
	assert_int_equal(cfg_lexer_line(&lx, line, strlen(line)), 0);
	assert_int_equal(lx.nword, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(lx.word[i].col, want[i]);
	cfg_lexer_fini(&lx);
}

static void
nul_in_the_line(void **state)
{
	struct cfg_lexer lx;

	(void)state;
	cfg_lexer_init(&lx, lookup, NULL);
	assert_int_equal(cfg_lexer_line(&lx, "ab\0cd", 5), -CFG_LEX_NUL);
	assert_int_equal(lx.errcol, 3);
	assert_int_equal(cfg_lexer_line(&lx, "\"${NOPE-a\0b}\"", 13), -CFG_LEX_NUL);
	cfg_lexer_fini(&lx);
}

static const char *
big_value(void *arg, const char *name)
{
	(void)name;
	return arg;
}

static void
lines_and_words_are_bounded(void **state)
{
	size_t len = 1 << 20;
	char *line = malloc(len + 1);
	struct cfg_lexer lx;

	(void)state;
	assert_non_null(line);
	memset(line, 'a', len);
	line[len] = '\0';
	cfg_lexer_init(&lx, big_value, line);
	assert_int_equal(cfg_lexer_line(&lx, line, len), -CFG_LEX_LINE_LONG);
	assert_int_equal(lx.errcol, CFG_LINE_MAX + 1);
	assert_int_equal(cfg_lexer_line(&lx, line, CFG_LINE_MAX), 0);
	assert_int_equal(lx.nword, 1);
	assert_int_equal(cfg_lexer_line(&lx, "\"$X\"", 4), -CFG_LEX_EXPANSION);

	for (size_t i = 0; i < 20000; i += 2)
		line[i] = ' ';
	assert_int_equal(cfg_lexer_line(&lx, line, 20000), -CFG_LEX_WORDS);
	assert_int_equal(cfg_lexer_line(&lx, line, 2 * CFG_WORDS_MAX), 0);
	assert_int_equal(lx.nword, CFG_WORDS_MAX);
	line[20000] = '\0';
	assert_int_equal(cfg_lexer_line(&lx, "\"${X[*]}\"", 9), -CFG_LEX_WORDS);

	memset(line, 'V', 1000);
	memcpy(line, "\"$", 2);
	assert_int_equal(cfg_lexer_line(&lx, line, 1000), -CFG_LEX_VARLONG);
	cfg_lexer_fini(&lx);
	free(line);
}

static void
without_comments_a_hash_is_a_word(void **state)
{
	struct cfg_lexer lx;

	(void)state;
	cfg_lexer_init(&lx, NULL, NULL);
	lx.nocomment = 1;
	assert_int_equal(cfg_lexer_line(&lx, "1 # 2", 5), 0);
	assert_int_equal(lx.nword, 3);
	assert_string_equal(lx.word[1].text, "#");
	cfg_lexer_fini(&lx);
}

static void
every_error_has_a_text(void **state)
{
	(void)state;
	for (int i = 0; i < CFG_LEX_ERR_COUNT; i++)
		assert_true(strlen(cfg_lexer_strerror(-i)) > 5);
	assert_string_equal(cfg_lexer_strerror(-CFG_LEX_ERR_COUNT), "unknown error");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_and_escapes_are_haproxys),
		cmocka_unit_test(variables_are_expanded),
		cmocka_unit_test(errors_have_their_column),
		cmocka_unit_test(words_have_their_columns),
		cmocka_unit_test(nul_in_the_line),
		cmocka_unit_test(lines_and_words_are_bounded),
		cmocka_unit_test(without_comments_a_hash_is_a_word),
		cmocka_unit_test(every_error_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
