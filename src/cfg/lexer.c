/* Splits and expands one line. Main thread, while the configuration is read. Words lie one
 * after another in one buffer that may move: until finish_words() each text is an offset. */
#include "cfg/lexer.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

enum quote { BARE, WEAK, STRONG };

struct scan {
	struct cfg_lexer *lx;
	const char *p, *end;
	const char *line;
	enum quote quote;
	unsigned int quotecol;
	int inword;
	int vanish;	/* the current word is an expansion that yielded nothing */
};

static const char *const lex_texts[CFG_LEX_ERR_COUNT] = {
	[CFG_LEX_OK] = "no error",
#define X(name, text) [CFG_LEX_##name] = (text),
	CFG_LEX_ERRS(X)
#undef X
};

static unsigned int
column_of(const struct scan *s, const char *p)
{
	return (unsigned int)(p - s->line) + 1;
}

static int
lex_fail(struct scan *s, enum cfg_lex_err err, const char *at)
{
	s->lx->errcol = column_of(s, at);
	return -(int)err;
}

static int
put_char(struct scan *s, char c)
{
	struct cfg_lexer *lx = s->lx;

	if (c == '\0')
		return lex_fail(s, CFG_LEX_NUL, s->p);
	if (lx->len + 1 >= lx->cap) {
		size_t cap = lx->cap ? lx->cap * 2 : 512;
		char *buf;

		if (lx->len >= CFG_LINE_MAX)
			return lex_fail(s, CFG_LEX_EXPANSION, s->p);
		buf = mem_resize(lx->buf, cap, 1);
		if (!buf)
			return lex_fail(s, CFG_LEX_NOMEM, s->p);
		lx->buf = buf;
		lx->cap = cap;
	}
	lx->buf[lx->len++] = c;
	s->vanish = 0;
	return 0;
}

static int
word_begin(struct scan *s, const char *at)
{
	struct cfg_lexer *lx = s->lx;
	struct cfg_word *word;

	if (s->inword)
		return 0;
	if (lx->nword >= CFG_WORDS_MAX)
		return lex_fail(s, CFG_LEX_WORDS, at);
	word = array_grow(lx->word, lx->nword, &lx->wordcap, sizeof(*word));
	if (!word)
		return lex_fail(s, CFG_LEX_NOMEM, at);
	lx->word = word;
	lx->word[lx->nword].text = (const char *)(uintptr_t)lx->len;
	lx->word[lx->nword].col = column_of(s, at);
	lx->nword++;
	s->inword = 1;
	s->vanish = 0;
	return 0;
}

static int
word_end(struct scan *s)
{
	struct cfg_lexer *lx = s->lx;
	size_t start;

	if (!s->inword)
		return 0;
	s->inword = 0;
	start = (size_t)(uintptr_t)lx->word[lx->nword - 1].text;
	if (s->vanish && lx->len == start) {
		lx->nword--;
		return 0;
	}
	/* put_char() rejects NUL, so the terminator is stored directly, in space that it always
	 * leaves */
	if (lx->len == start) {
		int rc = put_char(s, ' ');

		if (rc)
			return rc;
		lx->len--;
	}
	lx->buf[lx->len] = '\0';
	lx->len++;
	return 0;
}

/* \xNN; s->p is on the backslash. */
static int
escape_hex(struct scan *s)
{
	const char *at = s->p;
	int hi, lo, rc;

	if (s->end - at < 4)
		return lex_fail(s, CFG_LEX_HEX, at);
	hi = str_hex_digit(at[2]);
	lo = str_hex_digit(at[3]);
	if (hi < 0 || lo < 0)
		return lex_fail(s, CFG_LEX_HEX, at);
	rc = put_char(s, (char)(hi * 16 + lo));
	s->p += 4;
	return rc;
}

/* A backslash outside strong quotes. Unknown sequences keep it, as in HAProxy. */
static int
parse_escape(struct scan *s)
{
	char c = s->end - s->p > 1 ? s->p[1] : '\0';
	char out = '\0';
	int rc;

	switch (c) {
	case 'x':
		return escape_hex(s);
	case 'n':
		out = '\n';
		break;
	case 'r':
		out = '\r';
		break;
	case 't':
		out = '\t';
		break;
	case ' ':
	case '\t':
	case '#':
	case '\\':
	case '\'':
	case '"':
		out = c;
		break;
	case '$':
		/* the manual allows it outside quotes too, but HAProxy keeps the backslash */
		out = s->quote == WEAK ? c : '\0';
		break;
	default:
		break;
	}
	if (!out) {
		rc = put_char(s, '\\');
		s->p++;
		return rc;
	}
	rc = put_char(s, out);
	s->p += 2;
	return rc;
}

/* True if the current word is empty so far. */
static int
is_empty_word(const struct scan *s)
{
	const struct cfg_lexer *lx = s->lx;

	return lx->len == (size_t)(uintptr_t)lx->word[lx->nword - 1].text;
}

/* Begins another word of the same expansion, with the same column. */
static int
word_next(struct scan *s)
{
	struct cfg_lexer *lx = s->lx;
	unsigned int col = lx->word[lx->nword - 1].col;
	int rc = word_end(s);

	if (!rc)
		rc = word_begin(s, s->p);
	if (!rc)
		lx->word[lx->nword - 1].col = col;
	return rc;
}

/* Adds a value, splitting it at blanks if `split`. */
static int
add_expansion(struct scan *s, const char *v, size_t n, int split)
{
	const char *end = v + n;
	int cut = 0;
	int rc = 0;

	for (; !rc && v < end; v++) {
		if (split && isspace((unsigned char)*v)) {
			cut = !is_empty_word(s);
			continue;
		}
		if (cut) {
			cut = 0;
			rc = word_next(s);
		}
		if (!rc)
			rc = put_char(s, *v);
	}
	return rc;
}

/* The length of a variable's name at `p`, with an optional leading dot; 0: none. */
static size_t
name_length(const char *p, const char *end)
{
	const char *q = p;

	if (q < end && *q == '.')
		q++;
	if (q >= end || !(isalpha((unsigned char)*q) || *q == '_'))
		return 0;
	while (q < end && (isalnum((unsigned char)*q) || *q == '_'))
		q++;
	return (size_t)(q - p);
}

/* ${NAME}, ${NAME-default}, ${NAME[*]} or $NAME inside double quotes. */
static int
expand_variable(struct scan *s)
{
	const char *dollar = s->p, *p = dollar + 1, *deflt = NULL;
	char name[CFG_VAR_MAX + 1];
	int brace = p < s->end && *p == '{', split = 0;
	const char *found;
	size_t len;
	int rc;

	if (brace)
		p++;
	len = name_length(p, s->end);
	if (len == 0)
		return lex_fail(s, CFG_LEX_VARNAME, p);
	if (len > CFG_VAR_MAX)
		return lex_fail(s, CFG_LEX_VARLONG, p);
	memcpy(name, p, len);
	name[len] = '\0';
	p += len;
	if (brace && p < s->end && *p == '[') {
		if (s->end - p < 3 || memcmp(p, "[*]", 3) != 0)
			return lex_fail(s, CFG_LEX_EXPAND, p);
		split = 1;
		p += 3;
	}
	if (brace && p < s->end && *p == '-') {
		deflt = ++p;
		while (p < s->end && *p != '}')
			p++;
	}
	if (brace && (p >= s->end || *p != '}'))
		return lex_fail(s, CFG_LEX_BRACE, dollar + 1);
	/* an empty word that only splits may be omitted, see word_end() */
	if (split && is_empty_word(s))
		s->vanish = 1;
	found = s->lx->getenv ? s->lx->getenv(s->lx->getenv_arg, name) : NULL;
	rc = 0;
	/* an unknown pseudo-variable is an error */
	if (!found && name[0] == '.')
		return lex_fail(s, CFG_LEX_VARNAME, dollar + (brace ? 2 : 1));
	if (found)
		rc = add_expansion(s, found, strlen(found), split);
	else if (deflt)
		rc = add_expansion(s, deflt, (size_t)(p - deflt), split);
	s->p = p + (brace ? 1 : 0);
	return rc;
}

static int
weak_char(struct scan *s)
{
	int rc;

	switch (*s->p) {
	case '"':
		s->quote = BARE;
		s->p++;
		return 0;
	case '\\':
		return parse_escape(s);
	case '$':
		return expand_variable(s);
	default:
		rc = put_char(s, *s->p);
		s->p++;
		return rc;
	}
}

static int
strong_char(struct scan *s)
{
	int rc = 0;

	if (*s->p == '\'')
		s->quote = BARE;
	else
		rc = put_char(s, *s->p);
	s->p++;
	return rc;
}

/* Processes one token outside quotes; sets *done at a comment. */
static int
bare_char(struct scan *s, int *done)
{
	int rc;

	if (str_is_blank(*s->p)) {
		rc = word_end(s);
		s->p++;
		return rc;
	}
	if (*s->p == '#' && !s->lx->nocomment) {
		*done = 1;
		return 0;
	}
	rc = word_begin(s, s->p);
	if (rc)
		return rc;
	switch (*s->p) {
	case '"':
	case '\'':
		s->quote = *s->p == '"' ? WEAK : STRONG;
		s->quotecol = column_of(s, s->p);
		s->vanish = 0;
		s->p++;
		return 0;
	case '\\':
		return parse_escape(s);
	default:
		rc = put_char(s, *s->p);
		s->p++;
		return rc;
	}
}

static void
finish_words(struct cfg_lexer *lx)
{
	for (unsigned int i = 0; i < lx->nword; i++)
		lx->word[i].text = lx->buf + (uintptr_t)lx->word[i].text;
}

int
cfg_lexer_line(struct cfg_lexer *lx, const char *line, size_t len)
{
	struct scan s = { .lx = lx, .p = line, .end = line + len, .line = line };
	int done = 0;
	int rc = 0;

	lx->nword = 0;
	lx->len = 0;
	lx->errcol = 0;
	if (len > CFG_LINE_MAX)
		return lex_fail(&s, CFG_LEX_LINE_LONG, line + CFG_LINE_MAX);
	if (len > 0 && line[len - 1] == '\r')
		s.end--;
	while (!rc && !done && s.p < s.end) {
		switch (s.quote) {
		case BARE:
			rc = bare_char(&s, &done);
			break;
		case WEAK:
			rc = weak_char(&s);
			break;
		case STRONG:
			rc = strong_char(&s);
			break;
		}
	}
	if (!rc && s.quote != BARE) {
		lx->errcol = s.quotecol;
		rc = -CFG_LEX_QUOTE;
	}
	if (!rc)
		rc = word_end(&s);
	if (rc) {
		lx->nword = 0;
		return rc;
	}
	finish_words(lx);
	return 0;
}

void
cfg_lexer_init(struct cfg_lexer *lx, cfg_getenv_fn *getenv, void *arg)
{
	memset(lx, 0, sizeof(*lx));
	lx->getenv = getenv;
	lx->getenv_arg = arg;
}

void
cfg_lexer_fini(struct cfg_lexer *lx)
{
	mem_free(lx->word);
	mem_free(lx->buf);
	memset(lx, 0, sizeof(*lx));
}

const char *
cfg_lexer_strerror(int err)
{
	unsigned int i = err < 0 ? 0u - (unsigned int)err : (unsigned int)err;

	return i < CFG_LEX_ERR_COUNT ? lex_texts[i] : "unknown error";
}
