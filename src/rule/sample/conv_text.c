/* Converters of text (manual 7.3.1): pieces of it, and its case. */
#include "rule/sample/conv.h"
#include "rule/sample/regex.h"

static char
lower_of(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static char
upper_of(char c)
{
	return (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
}

/* kind: true for upper case. */
static int
conv_case(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str;
	char *p = arena_get(cx->arena, t.len);

	for (size_t i = 0; p && i < t.len; i++)
		p[i] = a->kind ? upper_of(t.p[i]) : lower_of(t.p[i]);
	return conv_text(cx, s, p, t.len);
}

static int
conv_length(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_int(s, (int64_t)s->u.str.len);
	return 1;
}

static int
init_bytes(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	*why = "it is a number of bytes, from 0 on";
	for (a->bad = 0; a->bad < 2; a->bad++)
		if (a->arg[a->bad].num < 0)
			return -1;
	return 0;
}

static int
conv_cut(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str *t = &s->u.str;
	size_t from = (size_t)MIN((uint64_t)a->arg[0].num, t->len);

	*t = (struct str){ t->p + from, t->len - from };
	if (a->arg[1].type == ARG_INT)
		t->len = (size_t)MIN((uint64_t)a->arg[1].num, t->len);
	return 1;
}

/* --- fields and words --- */

static int
is_one_of(char c, struct str set)
{
	return set.len > 0 && memchr(set.p, c, set.len) != NULL;
}

static int
init_pieces(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	*why = "the index counts from 1, or from -1 backwards";
	if (a->arg[0].num == 0)
		return -1;
	a->bad = 2;
	*why = "the count is 0 (all that follow) or more";
	return a->arg[2].num < 0 ? -1 : 0;
}

/* The other end of the field that begins (backwards: ends) at `at`. */
static size_t
field_end(struct str t, struct str delims, size_t at, int back)
{
	if (back)
		while (at > 0 && !is_one_of(t.p[at - 1], delims))
			at--;
	else
		while (at < t.len && !is_one_of(t.p[at], delims))
			at++;
	return at;
}

/* `count` fields, starting with the one at `at`. */
static struct str
take_fields(struct str t, struct str delims, size_t at, int64_t count, int back)
{
	size_t end = back ? 0 : t.len;

	if (count > 0) {
		for (end = field_end(t, delims, at, back);
			--count > 0 && end != (back ? 0 : t.len);)
			end = field_end(t, delims, back ? end - 1 : end + 1, back);
	}
	return back ? (struct str){ t.p + end, at - end } : (struct str){ t.p + at, end - at };
}

static int
conv_field(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str, delims = a->arg[1].text;
	int back = a->arg[0].num < 0;
	int64_t nth = a->arg[0].num, count = a->n > 2 ? a->arg[2].num : 1;
	size_t at = back ? t.len : 0, end;

	for (nth = back ? nth + 1 : nth - 1; nth != 0; nth += back ? 1 : -1) {
		end = field_end(t, delims, at, back);
		if (end == (back ? 0 : t.len))
			return 0;
		at = back ? end - 1 : end + 1;
	}
	s->u.str = take_fields(t, delims, at, count, back);
	return 1;
}

/* Consecutive delimiters count as one, and those before the first word are skipped. */
static size_t
skip_delims(struct str t, struct str delims, size_t at, int back)
{
	if (back)
		while (at > 0 && is_one_of(t.p[at - 1], delims))
			at--;
	else
		while (at < t.len && is_one_of(t.p[at], delims))
			at++;
	return at;
}

/* Takes a word of the text. As in HAProxy a missing word is empty. */
static int
conv_word(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str, delims = a->arg[1].text;
	int back = a->arg[0].num < 0;
	int64_t nth = a->arg[0].num, count = a->n > 2 ? a->arg[2].num : 1;
	size_t last = back ? 0 : t.len;
	size_t at = skip_delims(t, delims, back ? t.len : 0, back), end;

	for (nth = back ? nth + 1 : nth - 1; nth != 0 && at != last; nth += back ? 1 : -1)
		at = skip_delims(t, delims, field_end(t, delims, at, back), back);
	end = last;
	if (count > 0 && at != last) {
		for (end = field_end(t, delims, at, back); --count > 0 && end != last;)
			end = field_end(t, delims, skip_delims(t, delims, end, back), back);
	}
	s->u.str = back ? (struct str){ t.p + end, at - end } : (struct str){ t.p + at, end - at };
	return 1;
}

/* --- ends --- */

/* kind: true for the end. */
static int
conv_trim(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str *t = &s->u.str, set = a->arg[0].text;

	if (a->kind) {
		while (t->len > 0 && is_one_of(t->p[t->len - 1], set))
			t->len--;
		return 1;
	}
	while (t->len > 0 && is_one_of(t->p[0], set))
		*t = (struct str){ t->p + 1, t->len - 1 };
	return 1;
}

static int
conv_cut_crlf(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	size_t n = 0;

	while (n < s->u.str.len && s->u.str.p[n] != '\r' && s->u.str.p[n] != '\n')
		n++;
	s->u.str.len = n;
	return 1;
}

static int
conv_iif(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_str(s, a->arg[s->u.sint ? 0 : 1].text);
	return 1;
}

#define TEXT .in = SAMPLE_STR, .out = SAMPLE_STR
#define PIECES .arg = { ARG_INT, ARG_ENUM, ARG_INT }, .min = 2, .init = init_pieces, \
	.syntax = "<index>,<delimiters>[,<count>]"

const struct rule_conv rule_text_convs[] = {
	{ .name = "bytes",
		.example = "str(hello),bytes(1,3),upper gives ELL",
		.arg = { ARG_INT, ARG_INT },
		.min = 1,
		.in = SAMPLE_BIN,
		.out = SAMPLE_BIN,
		.conv = conv_cut,
		.init = init_bytes,
		.syntax = "<offset>[,<length>]",
		.doc = "The bytes from this offset on, at most this many." },
	{ .name = "cut_crlf",
		TEXT,
		.conv = conv_cut_crlf,
		.doc = "The text before the first CR or LF." },
	{ .name = "field",
		.example = "str(a/b/c),field(2,/) gives b\n"
			"str(a/b/c),field(-1,/) gives c",
		TEXT,
		PIECES,
		.conv = conv_field,
		.doc = "The field with this index (negative: from the end), and this many fields "
			"in all (1; 0: all). Each delimiter ends a field." },
	{ .name = "iif",
		.example = "bool(1),iif(https,http) gives https",
		.arg = { ARG_STR, ARG_STR },
		.min = 2,
		.in = SAMPLE_BOOL,
		.out = SAMPLE_STR,
		.conv = conv_iif,
		.syntax = "<true>,<false>",
		.doc = "One text for true, another for false." },
	{ .name = "length",
		.example = "str(hello),length gives 5\n"
			"bin(610062),length gives 1\n"
			"bin(610062),hex,length gives 6",
		.in = SAMPLE_STR,
		.out = SAMPLE_SINT,
		.conv = conv_length,
		.doc = "The length in bytes. Binary ends at its first NUL, as in HAProxy; "
			"hex,length gives twice the whole length." },
	{ .name = "lower",
		TEXT,
		.conv = conv_case,
		.kind = 0,
		.doc = "Converts to lower case (ASCII).",
		.example = "str(Ab),lower gives ab" },
	{ .name = "ltrim",
		.example = "str(--a),ltrim(-) gives a",
		TEXT,
		.arg = { ARG_ENUM },
		.conv = conv_trim,
		.kind = 0,
		.syntax = "[<chars>]",
		.doc = "Removes these characters from the beginning." },
	{ .name = "rtrim",
		.example = "str(a--),rtrim(-) gives a",
		TEXT,
		.arg = { ARG_ENUM },
		.conv = conv_trim,
		.kind = 1,
		.syntax = "[<chars>]",
		.doc = "Removes these characters from the end." },
	{ .name = "upper",
		TEXT,
		.conv = conv_case,
		.kind = 1,
		.doc = "Converts to upper case (ASCII).",
		.example = "str(Ab),upper gives AB" },
	{ .name = "word",
		.example = "str(a//b),word(2,/) gives b",
		TEXT,
		PIECES,
		.conv = conv_word,
		.doc = "As field, but consecutive delimiters count as one." },
	{ .name = NULL },
};

/* --- regsub ---------------------------------------------------------------------------------- */

/* The converter regsub (manual 7.3.1). */

static int
init_regsub(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	unsigned int flags = 0;
	struct regex *re = NULL;
	struct regex_err err;

	a->kind = 0;
	a->bad = 2;
	*why = "the flags are 'g' and 'i'";
	for (size_t i = 0; i < a->arg[2].text.len; i++) {
		char c = a->arg[2].text.p[i];

		if (c != 'g' && c != 'i')
			return -1;
		a->kind |= c == 'g';
		flags |= c == 'i' ? REGEX_NOCASE : 0;
	}
	a->bad = 1;
	*why = regex_subst_why_not(a->arg[1].text);
	if (*why)
		return -1;
	a->bad = 0;
	*why = "this is no regular expression";
	if (regex_new(a->arg[0].text, flags, &re, &err))
		return -1;
	a->arg[0].ref = re;
	return 0;
}

static void
free_regsub(struct rule_args *a)
{
	struct regex *re = a->arg[0].ref;

	regex_free(&re);
	a->arg[0].ref = NULL;
}

static int
conv_regsub(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct arena *room = cx->arena;
	size_t left = room->cap - room->used;
	struct sbuf out;

	if (left == 0) {
		room->refused++;
		return 0;
	}
	sbuf_init_fixed(&out, room->p + room->used, left);
	(void)regex_replace(a->arg[0].ref, cx, s->u.str, a->arg[1].text, (int)a->kind, &out);
	if (out.failed) {
		room->refused++;
		return 0;
	}
	room->used += out.len;
	sample_set_str(s, (struct str){ out.p, out.len });
	return 1;
}

const struct rule_conv rule_regsub_convs[] = {
	{ .name = "regsub",
		.example = "str(/a/b),regsub(/,-,g) gives -a-b",
		.arg = { ARG_REGEX, ARG_STR, ARG_STR },
		.min = 2,
		.in = SAMPLE_STR,
		.out = SAMPLE_STR,
		.conv = conv_regsub,
		.init = init_regsub,
		.free = free_regsub,
		.syntax = "<regex>,<replacement>[,<flags>]",
		.doc = "Replaces the first match of a regular expression, or with flag g all "
			"matches; flag i ignores case. \\0 to \\9 are replaced by groups. "
			"As in sed, an empty match right behind another one is none: "
			"str(abc),regsub(.*,x,g) gives x, where HAProxy gives xx." },
	{ .name = NULL },
};
