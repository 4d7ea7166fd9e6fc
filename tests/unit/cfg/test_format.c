#include "cfg/format.h"

#include <stdio.h>
#include <string.h>

#include "cfg/lexer.h"
#include "unit/test.h"

static struct sbuf out;

static const char *
formatted(const char *text)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	cfg_format(&out, text, strlen(text));
	return out.len ? out.p : "";
}

static void
each_text_has_one_layout(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "\n\n \t\n", "" },
		{ "global", "global\n" },
		{ "  global  \n  maxconn   10\t\n", "global\n\tmaxconn 10\n" },
		{ "global\r\n    daemon\r\n", "global\n\tdaemon\n" },
		/* one empty line before sections, at most one elsewhere */
		{ "global\ndaemon\ndefaults\nmode http\n\n\n\nretries 2\n\n\n",
			"global\n\tdaemon\n\ndefaults\n\tmode http\n\n\tretries 2\n" },
		/* comments: of the file, of a section, in it, at its end, behind words */
		{ "\n# file\n\n# web\n# site\nfrontend a # x\n# in\n  # b\nbind :80  # y  \n"
		  "  # end\n# next\nbackend b\n",
			"# file\n\n# web\n# site\nfrontend a # x\n\t# in\n\t# b\n\tbind :80 # y\n\n"
			"# end\n# next\nbackend b\n" },
		{ "global\n\tdaemon\n\t# old\n\n# web\nlisten a\n",
			"global\n\tdaemon\n\t# old\n\n# web\nlisten a\n" },
		{ "global\n  # one\n\n\n  # two\n# three\n\n",
			"global\n\t# one\n\n\t# two\n# three\n" },
		/* conditions */
		{ ".if defined(A)\nlisten a\nbind :1\n.else\n\nlisten b\n.endif\nlisten c\n",
			".if defined(A)\nlisten a\n\tbind :1\n.else\nlisten b\n.endif\n\n"
			"listen c\n" },
		{ "listen a\n  .if defined(A)\n bind :1\n  .endif\n",
			"listen a\n\t.if defined(A)\n\tbind :1\n\t.endif\n" },
		/* words stay */
		{ "listen a\n log-format  \"%ci  %cp\"   'a  b'  c\\  d  \"x\\\"  y\"\n",
			"listen a\n\tlog-format \"%ci  %cp\" 'a  b' c\\  d \"x\\\"  y\"\n" },
		{ "listen a\n acl a path \"#\" '#' \\#  x#  y\n",
			"listen a\n\tacl a path \"#\" '#' \\# x#  y\n" },
		{ "listen a\n acl a path x\\ \n", "listen a\n\tacl a path x\\ \n" },
		{ "listen a\n acl a path \"x  \n", "listen a\n\tacl a path \"x  \n" },
		{ "maxconn 1\n", "maxconn 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(formatted(rows[i][0]), rows[i][1]);
		/* once more changes nothing */
		assert_string_equal(formatted(rows[i][1]), rows[i][1]);
	}
	sbuf_fini(&out);
}

/* The words of a line, each in brackets, in `to`. */
static void
words_of(const char *line, size_t len, char *to, size_t size)
{
	struct cfg_lexer lx;
	size_t n = 0;

	cfg_lexer_init(&lx, NULL, NULL);
	n = (size_t)snprintf(to, size, "%d", cfg_lexer_line(&lx, line, len));
	for (unsigned int i = 0; i < lx.nword && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "[%s]", lx.word[i].text);
	cfg_lexer_fini(&lx);
}

/* Lines of the characters that mean something, counted through. */
static void
no_line_gets_other_words(void **state)
{
	static const char letters[] = "a \t\\\"'#";
	enum { LENGTH = 6, LETTERS = sizeof(letters) - 1 };
	unsigned int n = 1;

	(void)state;
	for (unsigned int i = 0; i < LENGTH; i++)
		n *= LETTERS;
	for (unsigned int k = 0; k < n; k++) {
		char line[LENGTH + 1] = "", before[64], after[64];
		unsigned int rest = k;

		for (unsigned int i = 0; i < LENGTH; i++, rest /= LETTERS)
			line[i] = letters[rest % LETTERS];
		words_of(line, LENGTH, before, sizeof(before));
		formatted(line);
		words_of(out.p, out.len ? out.len - 1 : 0, after, sizeof(after));
		if (strcmp(before, after) != 0)
			fail_msg("'%s': %s, formatted %s", line, before, after);
	}
	sbuf_fini(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_has_one_layout),
		cmocka_unit_test(no_line_gets_other_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
