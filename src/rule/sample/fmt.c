/* Compiles format strings and writes them. Compiled on the main thread, written by workers.
 * The text of a part has no line end in it, for any traffic. */
#include "rule/sample/fmt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/sample/shortfall.h"

#define MERGES (RULE_FMT_LOG | RULE_FMT_MERGE)

/* Text, an expression or an alias. */
struct part {
	const struct rule_alias *alias;
	struct rule_expr *expr;
	unsigned int flags;
	const char *text;     /* points into rule_fmt.text */
	size_t len;
};

struct rule_fmt {
	unsigned int style;
	unsigned int needs, uses;
	unsigned int n;
	char *text;           /* all literal texts, joined */
	struct part part[];
};

struct compiler {
	const struct rule_vocab *vocab;
	unsigned int at;
	const char *p;        /* the rest of the format */
	const char *start;
	struct rule_fmt *f;
	unsigned int room;    /* number of parts in f */
	char *text_end;       /* end of the used part of f->text */
	unsigned int flags;   /* set by %{...}o for all parts that follow */
	struct rule_err *why;
};

/* --- reading -------------------------------------------------------------------------------- */

static int fmt_fail(struct compiler *c, int reason, const char *fmt, ...) fmt_printf(3, 4);

static int
fmt_fail(struct compiler *c, int reason, const char *fmt, ...)
{
	va_list ap;

	c->why->at = (size_t)(c->p - c->start);
	va_start(ap, fmt);
	(void)vsnprintf(c->why->text, sizeof(c->why->text), fmt, ap);
	va_end(ap);
	return -reason;
}

/* NULL after a reported failure. */
static struct part *
add_part(struct compiler *c)
{
	if (c->f->n < c->room)
		return &c->f->part[c->f->n++];
	(void)fmt_fail(c, ERR_FULL, "more than %u parts", c->room);
	return NULL;
}

/* Text up to the next variable. In logs consecutive blanks become one, as they only separate
 * words. */
static int
compile_literal(struct compiler *c)
{
	int merge = (c->f->style & MERGES) != 0;
	struct part *t = add_part(c);

	if (!t)
		return -ERR_FULL;
	t->text = c->text_end;
	while (*c->p && (*c->p != '%' || c->p[1] == '%')) {
		if (*c->p == '%')
			c->p++;
		if (!merge || *c->p != ' ' || t->len == 0 || t->text[t->len - 1] != ' ') {
			*c->text_end++ = *c->p;
			t->len++;
		}
		c->p++;
	}
	return 0;
}

static unsigned int
flag_bit(char name)
{
	switch (name) {
	case 'Q':
		return RULE_FMT_Q;
	case 'X':
		return RULE_FMT_X;
	case 'E':
		return RULE_FMT_E;
	default:
		return 0;
	}
}

/* "{+Q,-X}" */
static int
compile_flags(struct compiler *c, unsigned int *flags)
{
	for (c->p++; *c->p != '}'; c->p++) {
		char sign = *c->p;
		unsigned int bit;

		if (!sign)
			return fmt_fail(c, ERR_SYNTAX, "'}' is missing");
		if (sign == ',')
			continue;
		if (sign != '+' && sign != '-')
			return fmt_fail(c, ERR_SYNTAX, "'+' or '-' is expected before a flag");
		bit = flag_bit(*++c->p);
		if (!bit)
			return fmt_fail(c, ERR_UNKNOWN, "unknown flag; there are Q, X and E");
		*flags = sign == '+' ? *flags | bit : *flags & ~bit;
	}
	c->p++;
	return 0;
}

static int
is_alias_char(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
}

static const struct rule_alias *
find_alias(const struct rule_alias *a, const char *name, size_t len)
{
	for (; a && a->name; a++)
		if (strlen(a->name) == len && memcmp(a->name, name, len) == 0)
			return a;
	return NULL;
}

static int
compile_alias(struct compiler *c, size_t len, unsigned int flags)
{
	const struct rule_alias *a = find_alias(c->vocab->aliases, c->p, len);
	struct part *part;

	if (!a)
		return fmt_fail(c, ERR_UNKNOWN,
			"no variable is called '%%%.*s'; a '%%' itself is written as '%%%%'",
			(int)MIN(len, (size_t)32), c->p);
	if (!a->write)
		return fmt_fail(c, ERR_UNSUPPORTED, "variable '%%%s' is not supported", a->name);
	if (a->needs & ~c->at & SAMPLE_AT_TXN)
		return fmt_fail(c, ERR_INVAL, "variable '%%%s' is reserved for mode http", a->name);
	part = add_part(c);
	if (!part)
		return -ERR_FULL;
	part->alias = a;
	part->flags = flags;
	c->f->needs |= a->needs;
	c->p += len;
	return 0;
}

/* "[src,lower]", starting at the bracket. */
static int
compile_expr(struct compiler *c, unsigned int flags)
{
	struct part *part;
	size_t used = 0;
	int r;

	c->p++;
	part = add_part(c);
	if (!part)
		return -ERR_FULL;
	part->flags = flags;
	r = rule_expr_parse(c->vocab, c->p, strlen(c->p), c->at, 1, &part->expr, &used, c->why);
	if (r < 0) {
		c->why->at += (size_t)(c->p - c->start);
		return r;
	}
	c->f->needs |= rule_expr_needs(part->expr);
	c->f->uses |= rule_expr_uses(part->expr);
	/* Values that may still change are known at the end. */
	if (c->f->style & RULE_FMT_LOG)
		c->f->needs |= SAMPLE_AT_END;
	if (c->p[used] != ']')
		return fmt_fail(c, ERR_SYNTAX, "']' is missing after '%.*s'",
			(int)MIN(used, (size_t)64), c->p);
	c->p += used + 1;
	return 0;
}

static int
compile_variable(struct compiler *c)
{
	unsigned int flags = c->flags;
	size_t len = 0;
	int r = 0;

	c->p++;
	if (*c->p == '{')
		r = compile_flags(c, &flags);
	if (r < 0)
		return r;
	if (*c->p == '[')
		return compile_expr(c, flags);
	while (is_alias_char(c->p[len]))
		len++;
	if (len == 0)
		return fmt_fail(c, ERR_SYNTAX, "the name of a variable is missing after '%%'");
	if (len == 1 && *c->p == 'o') {
		c->flags = flags;
		c->p++;
		return 0;
	}
	return compile_alias(c, len, flags);
}

/* Gives back the memory of the parts that are not there. */
static struct rule_fmt *
without_room(struct rule_fmt *f)
{
	struct rule_fmt *less = mem_resize(f, sizeof(*f) + f->n * sizeof(f->part[0]), 1);

	return less ? less : f;
}

int
rule_fmt_compile(const struct rule_vocab *v, const char *text, unsigned int style, unsigned int at,
	struct rule_fmt **out, struct rule_err *why)
{
	struct compiler c = { .vocab = v,
		.at = at,
		.p = text,
		.start = text,
		.flags = style,
		.why = why };
	size_t len = strlen(text);
	int r = 0;

	*out = NULL;
	/* Each part takes at least one byte of the text. */
	c.room = (unsigned int)MIN(len, (size_t)RULE_FMT_PARTS_MAX);
	c.f = mem_zalloc(sizeof(*c.f) + c.room * sizeof(c.f->part[0]));
	if (!c.f)
		return fmt_fail(&c, ERR_NOMEM, "out of memory");
	c.f->style = style;
	c.f->text = c.text_end = mem_alloc(len + 1);
	if (!c.f->text)
		r = fmt_fail(&c, ERR_NOMEM, "out of memory");
	while (r == 0 && *c.p)
		r = *c.p == '%' && c.p[1] != '%' ? compile_variable(&c) : compile_literal(&c);
	if (r < 0)
		rule_fmt_free(&c.f);
	else
		*c.text_end = '\0';
	*out = r < 0 ? NULL : without_room(c.f);
	return r;
}

void
rule_fmt_free(struct rule_fmt **f)
{
	if (!*f)
		return;
	for (unsigned int i = 0; i < (*f)->n; i++)
		rule_expr_free(&(*f)->part[i].expr);
	mem_free((*f)->text);
	mem_free(*f);
	*f = NULL;
}

int
rule_fmt_check(struct rule_fmt *f, void *root, struct rule_err *why)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (f->part[i].expr && rule_expr_check(f->part[i].expr, root, why) < 0)
			return -1;
	return 0;
}

unsigned int
rule_fmt_needs(const struct rule_fmt *f)
{
	return f->needs;
}

unsigned int
rule_fmt_uses(const struct rule_fmt *f)
{
	return f->needs | f->uses;
}

const char *
rule_fmt_literal(const struct rule_fmt *f)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (!f->part[i].text)
			return NULL;
	return f->text;
}

/* --- writing -------------------------------------------------------------------------------- */

/*
 * The form in which a byte from traffic is written: unchanged, or escaped. A backslash escape
 * requested by a flag takes precedence.
 */
static char
mark_of(unsigned int flags, unsigned char ch)
{
	if (flags & RULE_FMT_RAW)
		return '\0';
	if ((flags & RULE_FMT_LIST) && (ch == '{' || ch == '|' || ch == '}'))
		return '#';
	if ((flags & (RULE_FMT_LIST | RULE_FMT_MARK)) && (ch == '"' || ch == '#'))
		return '#';
	if ((flags & RULE_FMT_E) && (ch == '"' || ch == '\\' || ch == ']'))
		return '\\';
	if ((flags & RULE_FMT_LOG) && !(flags & RULE_FMT_VALUE))
		return ch < 0x20 || ch > 0x7e || ch == '"' || ch == '#' ? '#' : '\0';
	if ((ch >= 0x20 && ch != 0x7f) || ch == '\t')
		return '\0';
	return flags & RULE_FMT_LOG ? '#' : '%';
}

static void
put_bytes(struct sbuf *out, unsigned int flags, struct str s)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t from = 0;

	for (size_t i = 0; i < s.len; i++) {
		unsigned char ch = (unsigned char)s.p[i];
		char mark = mark_of(flags, ch);
		char hex[3] = { mark, digits[ch >> 4], digits[ch & 15] };

		if (!mark)
			continue;
		sbuf_add(out, s.p + from, i - from);
		from = i + 1;
		if (mark == '\\')
			hex[1] = (char)ch;
		sbuf_add(out, hex, mark == '\\' ? 2 : 3);
	}
	sbuf_add(out, s.p + from, s.len - from);
}

void
rule_fmt_put(struct sbuf *out, unsigned int flags, struct str s)
{
	if (flags & RULE_FMT_Q)
		sbuf_addc(out, '"');
	if (s.p)
		put_bytes(out, flags, s);
	else if ((flags & RULE_FMT_LOG) && !(flags & RULE_FMT_Q))
		sbuf_addc(out, '-');
	if (flags & RULE_FMT_Q)
		sbuf_addc(out, '"');
}

/* Flag Q applies to logs: HAProxy does not quote expressions elsewhere. */
static void
put_expr(const struct part *part, unsigned int style, struct sample_ctx *cx, struct sbuf *out)
{
	size_t mark = arena_mark(cx->arena);
	unsigned int flags = part->flags | RULE_FMT_VALUE;
	struct sample s;

	if (!(style & RULE_FMT_LOG))
		flags &= ~(unsigned int)RULE_FMT_Q;
	if (rule_expr_eval_as(part->expr, cx, SAMPLE_STR, &s) == 1 && s.u.str.len)
		rule_fmt_put(out, flags, s.u.str);
	else
		rule_fmt_put(out, flags, (struct str){ NULL, 0 });
	arena_release(cx->arena, mark);
}

/*
 * In logs blanks separate words: there is none at the start, and one, not two, around what writes
 * nothing at all: %o, and lists without captures. blank: the last separator is still unused.
 */
void
rule_fmt_write(const struct rule_fmt *f, struct sample_ctx *cx, struct sbuf *out)
{
	int merges = (f->style & MERGES) != 0, blank = merges;

	for (unsigned int i = 0; i < f->n; i++) {
		const struct part *part = &f->part[i];
		size_t before = out->len, skip;

		if (part->text) {
			skip = blank && part->len > 0 && part->text[0] == ' ';
			sbuf_add(out, part->text + skip, part->len - skip);
			blank = merges && part->len > 0 && part->text[part->len - 1] == ' ';
		} else if (part->alias) {
			part->alias->write(cx, part->flags, out);
			blank = blank && part->alias->list && out->len == before;
		} else {
			put_expr(part, f->style, cx, out);
			blank = 0;
		}
	}
}

int
rule_fmt_text(const struct rule_fmt *f, struct sample_ctx *cx, struct str *out)
{
	struct arena *whole = cx->arena, rest;
	const char *literal = rule_fmt_literal(f);
	size_t room = whole->cap - whole->used, half = room / 2;
	struct sbuf b;

	if (literal) {
		*out = str_of(literal);
		return 0;
	}
	if (whole->max)
		half = MIN(half, whole->max + 1); /* and a NUL */
	if (half == 0)
		goto refused;
	/* Texts of its expressions are in the other end of the arena and are released with them. */
	rest = (struct arena){ .p = whole->p + whole->used + half,
		.cap = room - half,
		.max = whole->max };
	sbuf_init_fixed(&b, whole->p + whole->used, half);
	cx->arena = &rest;
	rule_fmt_write(f, cx, &b);
	cx->arena = whole;
	whole->refused += rest.refused;
	if (b.failed)
		goto refused;
	*out = (struct str){ b.p, b.len };
	whole->used += b.len;
	return 0;
refused:
	whole->refused++;
	shortfall_add(cx, SHORTFALL_ROOM, "it is longer than tune.bufsize", "a format");
	return -1;
}
