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

#define BINARY(n, k, text)                                                               \
	{ .name = n, .arg = { ARG_INTVAR }, .in = SAMPLE_SINT,                            \
		.out = SAMPLE_SINT, .conv = conv_binary, .kind = k,                       \
		.syntax = "[<value>|<variable>]", .doc = text " The value is 0 if it is left out." }
#define TEST(n, k, text)                                                                 \
	{ .name = n, .in = SAMPLE_SINT, .out = SAMPLE_BOOL, .conv = conv_test, .kind = k, \
		.doc = text }
#define NUMBER .in = SAMPLE_SINT, .out = SAMPLE_SINT

const struct rule_conv rule_math_convs[] = {
	BINARY("add", OP_ADD, "Adds; on overflow the result is the nearest integer that fits."),
	BINARY("and", OP_AND, "Bitwise AND."),
	TEST("bool", IS_TRUE, "Is it not 0?"),
	{ .name = "cpl", NUMBER, .conv = conv_cpl, .doc = "Bitwise NOT." },
	BINARY("div", OP_DIV, "Divides; the result of a division by 0 is the largest integer."),
	TEST("even", IS_EVEN, "Is it even?"),
	BINARY("mod", OP_MOD, "The remainder of a division; by 0 it is 0."),
	BINARY("mul", OP_MUL, "Multiplies; on overflow the result is the nearest integer that "
		"fits."),
	{ .name = "neg", NUMBER, .conv = conv_neg, .doc = "The negated number." },
	TEST("not", IS_FALSE, "Is it 0?"),
	TEST("odd", IS_ODD, "Is it odd?"),
	BINARY("or", OP_OR, "Bitwise OR."),
	BINARY("sub", OP_SUB, "Subtracts; on overflow the result is the nearest integer that "
		"fits."),
	BINARY("xor", OP_XOR, "Bitwise XOR."),
	{ .name = NULL },
};
