/* Converters of integers (manual 7.3.1). */
#include "rule/sample/conv.h"

enum op { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_AND, OP_OR, OP_XOR };

/* Saturates on overflow. */
static int64_t
saturated_int(int negative)
{
	return negative ? INT64_MIN : INT64_MAX;
}

static int64_t
compute_op(enum op op, int64_t x, int64_t y)
{
	int64_t r;

	switch (op) {
	case OP_ADD:
		return __builtin_add_overflow(x, y, &r) ? saturated_int(x < 0) : r;
	case OP_SUB:
		return __builtin_sub_overflow(x, y, &r) ? saturated_int(x < 0) : r;
	case OP_MUL:
		return __builtin_mul_overflow(x, y, &r) ? saturated_int((x < 0) != (y < 0)) : r;
	case OP_DIV:
		return y == 0 || (x == INT64_MIN && y == -1) ? INT64_MAX : x / y;
	case OP_MOD:
		return y == 0 || y == -1 ? 0 : x % y;
	case OP_AND:
		return x & y;
	case OP_OR:
		return x | y;
	case OP_XOR:
		return x ^ y;
	}
	return 0;
}

static int
conv_binary(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	int64_t y;

	if (!conv_number(&a->arg[0], cx, &y))
		return 0;
	sample_set_int(s, compute_op((enum op)a->kind, s->u.sint, y));
	return 1;
}

static int
conv_neg(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	s->u.sint = compute_op(OP_SUB, 0, s->u.sint);
	if (s->u.sint == INT64_MIN)
		s->u.sint = INT64_MAX;
	return 1;
}

static int
conv_cpl(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	s->u.sint = ~s->u.sint;
	return 1;
}

enum test { IS_TRUE, IS_FALSE, IS_ODD, IS_EVEN };

static int
conv_test(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	int64_t v = s->u.sint;

	sample_set_bool(s, a->kind == IS_TRUE ? v != 0
		: a->kind == IS_FALSE         ? v == 0
		: a->kind == IS_ODD           ? (v & 1) != 0
					      : (v & 1) == 0);
	return 1;
}

#define BINARY(n, k, text, ...)                                                            \
	{ .name = n, .arg = { ARG_INTVAR }, .in = SAMPLE_SINT, .out = SAMPLE_SINT,         \
		.conv = conv_binary, .kind = k, .syntax = "[<value>|<variable>]",          \
		.doc = text " The value is 0 if it is left out.", __VA_ARGS__ }
#define TEST(n, k, text)                                                                 \
	{ .name = n, .in = SAMPLE_SINT, .out = SAMPLE_BOOL, .conv = conv_test, .kind = k, \
		.doc = text }
#define NUMBER .in = SAMPLE_SINT, .out = SAMPLE_SINT

const struct rule_conv rule_math_convs[] = {
	BINARY("add", OP_ADD, "Adds; on overflow the result is the nearest integer that fits.",
		.example = "int(5),add(3) gives 8"),
	BINARY("and", OP_AND, "Bitwise AND.",
		.example = "int(6),and(3) gives 2"),
	TEST("bool", IS_TRUE, "True unless it is 0."),
	{ .name = "cpl",
		NUMBER,
		.conv = conv_cpl,
		.doc = "Bitwise NOT.",
		.example = "int(0),cpl gives -1" },
	BINARY("div", OP_DIV, "Divides; the result of a division by 0 is the largest integer.",
		.example = "int(7),div(2) gives 3"),
	TEST("even", IS_EVEN, "True if it is even."),
	BINARY("mod", OP_MOD, "The remainder of a division; by 0 it is 0.",
		.example = "int(7),mod(4) gives 3"),
	BINARY("mul", OP_MUL, "Multiplies; on overflow the result is the nearest integer that "
		"fits.",
		.example = "int(7),mul(4) gives 28"),
	{ .name = "neg",
		NUMBER,
		.conv = conv_neg,
		.doc = "The negated number.",
		.example = "int(7),neg gives -7" },
	TEST("not", IS_FALSE, "True if it is 0."),
	TEST("odd", IS_ODD, "True if it is odd."),
	BINARY("or", OP_OR, "Bitwise OR.",
		.example = "int(4),or(1) gives 5"),
	BINARY("sub", OP_SUB, "Subtracts; on overflow the result is the nearest integer that "
		"fits.",
		.example = "int(5),sub(3) gives 2"),
	BINARY("xor", OP_XOR, "Bitwise XOR.",
		.example = "int(6),xor(3) gives 5"),
	{ .name = NULL },
};

/* --- language -------------------------------------------------------------------------------- */

/*
 * The converter language (manual 7.3.1): which of ours an Accept-Language field prefers (RFC
 * 9110, 12.5.4).
 */

/* Splits at the next `sep`. *rest is the text after it. */
static struct str
cut_at(struct str *rest, char sep)
{
	const char *end = memchr(rest->p, sep, rest->len);
	struct str word = { rest->p, end ? (size_t)(end - rest->p) : rest->len };
	size_t n = word.len + (end != NULL);

	*rest = (struct str){ rest->p + n, rest->len - n };
	return str_trim(word);
}

/* "q=0.5" in thousandths, 1000 if missing, 0 if invalid. */
static int
weight_of(struct str params)
{
	while (params.len > 0) {
		struct str p = cut_at(&params, ';');
		int q, unit = 100;

		if (p.len < 3 || (p.p[0] != 'q' && p.p[0] != 'Q') || p.p[1] != '=')
			continue;
		if (p.p[2] != '0' && p.p[2] != '1')
			return 0;
		q = (p.p[2] - '0') * 1000;
		for (size_t i = 4; i < p.len && p.p[i] >= '0' && p.p[i] <= '9'; i++, unit /= 10)
			q += (p.p[i] - '0') * unit;
		return MIN(q, 1000);
	}
	return 1000;
}

/* The entry of this language in our list, or one with p NULL. */
static struct str
find_language(struct str list, struct str lang)
{
	while (list.len > 0) {
		struct str x = cut_at(&list, ';');

		if (str_is(x, lang))
			return x;
	}
	return (struct str){ NULL, 0 };
}

static int
conv_language(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str rest = s->u.str, best = { NULL, 0 };
	int best_q = 0;

	while (rest.len > 0) {
		struct str params = cut_at(&rest, ','), lang = { NULL, 0 }, ours;
		int q;

		if (params.len > 0)
			lang = cut_at(&params, ';');
		q = weight_of(params);
		if (lang.len == 0 || q <= best_q)
			continue;
		ours = find_language(a->arg[0].text, lang);
		if (!ours.p)
			ours = find_language(a->arg[0].text, cut_at(&lang, '-'));
		if (ours.p) {
			best = ours;
			best_q = q;
		}
	}
	if (!best.p && a->n > 1)
		best = a->arg[1].text;
	if (!best.p)
		return 0;
	sample_set_str(s, best);
	return 1;
}

const struct rule_conv rule_language_convs[] = {
	{ .name = "language",
		.example = "req.hdr(accept-language),language(de;en,en)",
		.arg = { ARG_ENUM, ARG_STR },
		.in = SAMPLE_STR,
		.out = SAMPLE_STR,
		.conv = conv_language,
		.syntax = "[<lang>[;<lang>...]][,<default>]",
		.doc = "The one of these languages that an Accept-Language field prefers." },
	{ .name = NULL },
};
