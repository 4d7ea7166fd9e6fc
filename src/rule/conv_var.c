/* Converters that set variables, join their values, and compare with them (manual 7.3.1). */
#include "conv.h"

/* --- set-var, unset-var --- */

enum cond {
	IF_EXISTS = 1,
	IF_NOT_EXISTS = 2,
	IF_EMPTY = 4,
	IF_NOT_EMPTY = 8,
	IF_SET = 16,
	IF_NOT_SET = 32,
	IF_GT = 64,
	IF_LT = 128
};

static int
init_set(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	static const struct {
		struct str name;
		enum cond bit;
	} names[] = {
		{ { "ifexists", 8 }, IF_EXISTS },
		{ { "ifnotexists", 11 }, IF_NOT_EXISTS },
		{ { "ifempty", 7 }, IF_EMPTY },
		{ { "ifnotempty", 10 }, IF_NOT_EMPTY },
		{ { "ifset", 5 }, IF_SET },
		{ { "ifnotset", 8 }, IF_NOT_SET },
		{ { "ifgt", 4 }, IF_GT },
		{ { "iflt", 4 }, IF_LT },
	};

	a->kind = 0;
	*why = "the conditions are ifexists, ifnotexists, ifempty, ifnotempty, ifset, ifnotset, "
	       "ifgt and iflt";
	for (a->bad = 1; a->bad < a->n; a->bad++) {
		size_t i = 0;

		while (i < ARRAY_LEN(names) && !str_is(names[i].name, a->arg[a->bad].text))
			i++;
		if (i == ARRAY_LEN(names))
			return -1;
		a->kind |= names[i].bit;
	}
	return 0;
}

/* Do all conditions hold for the value s of a variable? */
static int
may_set(const struct rule_args *a, struct sample_ctx *cx, const struct sample *s)
{
	struct sample old = { .type = SAMPLE_STR };
	int set = var_find(cx, a->arg[0].u.var, &old);
	/* those of scope proc exist as soon as they are named */
	int exists = set || a->arg[0].u.var.scope == VAR_PROC;
	int empty = (s->type == SAMPLE_STR || s->type == SAMPLE_BIN) && s->u.str.len == 0;
	int numbers = set && old.type == SAMPLE_SINT && s->type == SAMPLE_SINT;
	intptr_t c = a->kind;

	return !((c & IF_EXISTS && !exists) || (c & IF_NOT_EXISTS && exists) ||
		(c & IF_EMPTY && !empty) || (c & IF_NOT_EMPTY && empty) || (c & IF_SET && !set) ||
		(c & IF_NOT_SET && set) || (c & IF_GT && numbers && old.u.sint <= s->u.sint) ||
		(c & IF_LT && numbers && old.u.sint >= s->u.sint));
}

/* A text that may be the variable's own: it must outlive the old value. */
static int
keep_text(struct sample_ctx *cx, struct sample *s)
{
	if (s->type != SAMPLE_STR && s->type != SAMPLE_BIN)
		return 1;
	s->u.str = arena_copy(cx->arena, s->u.str);
	return s->u.str.p != NULL;
}

static int
conv_set(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	return may_set(a, cx, s) && keep_text(cx, s) && var_store(cx, a->arg[0].u.var, s) == 0;
}

static int
conv_unset(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	if (!keep_text(cx, s))
		return 0;
	var_forget(cx, a->arg[0].u.var);
	return 1;
}

/* --- concat, add_item --- */

static int
init_join(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	if (!a->kind || a->arg[1].type == ARG_VAR || a->arg[2].text.len > 0)
		return 0;
	a->bad = 1;
	*why = "a variable or a suffix is needed";
	return -1;
}

/* The variable as text, or an empty one. */
static struct str
text_of(const struct rule_arg *a, struct sample_ctx *cx)
{
	struct sample v;

	if (a->type != ARG_VAR || !var_find(cx, a->u.var, &v) ||
		sample_cast(&v, SAMPLE_STR, cx->arena))
		return STR("");
	return v.u.str;
}

/* kind: the first argument goes between what is not empty. */
static int
conv_join(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str first = a->arg[0].text, var = text_of(&a->arg[1], cx), last = a->arg[2].text;
	struct str t = s->u.str;
	char *p;

	if (a->kind && (t.len == 0 || (var.len == 0 && last.len == 0)))
		first.len = 0;
	p = arena_get(cx->arena, t.len + first.len + var.len + last.len);
	if (!p)
		return 0;
	s->u.str = (struct str){ p, t.len + first.len + var.len + last.len };
	/* memcpy() does not take NULL */
	if (t.len)
		memcpy(p, t.p, t.len);
	if (first.len)
		memcpy(p + t.len, first.p, first.len);
	if (var.len)
		memcpy(p + t.len + first.len, var.p, var.len);
	if (last.len)
		memcpy(p + t.len + first.len + var.len, last.p, last.len);
	return 1;
}

/* --- strcmp, secure_memcmp --- */

static int
conv_strcmp(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str, o;
	struct sample v;
	size_t i = 0;
	int d;

	if (!var_find(cx, a->arg[0].u.var, &v) || sample_cast(&v, SAMPLE_STR, cx->arena))
		return 0;
	o = v.u.str;
	/* the difference itself, as HAProxy with glibc has it; strncmp() promises its sign only */
	while (i < MIN(t.len, o.len) && t.p[i] == o.p[i])
		i++;
	d = i < MIN(t.len, o.len) ? (unsigned char)t.p[i] - (unsigned char)o.p[i]
		: t.len < o.len   ? -1
				  : t.len > o.len;
	sample_set_int(s, d);
	return 1;
}

/* As long for any two texts of that length. */
static int
conv_same(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str t = s->u.str;
	struct sample v;
	volatile unsigned char differ = 0;

	if (!var_find(cx, a->arg[0].u.var, &v) || sample_cast(&v, SAMPLE_BIN, cx->arena))
		return 0;
	if (v.u.str.len != t.len) {
		sample_set_bool(s, 0);
		return 1;
	}
	for (size_t i = 0; i < t.len; i++)
		differ = (unsigned char)(differ | (t.p[i] ^ v.u.str.p[i]));
	sample_set_bool(s, differ == 0);
	return 1;
}

#define ANY .in = SAMPLE_ANY, .out = SAMPLE_ANY
#define TEXT .in = SAMPLE_STR, .out = SAMPLE_STR

const struct rule_conv rule_var_convs[] = {
	{ .name = "add_item",
		TEXT,
		.arg = { ARG_STR, ARG_VAR, ARG_STR },
		.min = 1,
		.conv = conv_join,
		.init = init_join,
		.kind = 1,
		.syntax = "<delimiter>,[<variable>][,<suffix>]",
		.doc = "With the variable and the suffix behind it, and the delimiter where "
		       "there is something on both sides." },
	{ .name = "concat",
		TEXT,
		.arg = { ARG_STR, ARG_VAR, ARG_STR },
		.conv = conv_join,
		.init = init_join,
		.kind = 0,
		.syntax = "[<start>],[<variable>],[<end>]",
		.doc = "With these behind it." },
	{ .name = "secure_memcmp",
		.arg = { ARG_VAR },
		.min = 1,
		.in = SAMPLE_BIN,
		.out = SAMPLE_BOOL,
		.conv = conv_same,
		.syntax = "<variable>",
		.doc = "Is it the same? Takes as long for any two of one length." },
	{ .name = "set-var",
		ANY,
		.arg = { ARG_VAR, ARG_ENUM, ARG_ENUM, ARG_ENUM, ARG_ENUM },
		.min = 1,
		.conv = conv_set,
		.init = init_set,
		.syntax = "<variable>[,<condition>...]",
		.doc = "Sets the variable, if all conditions hold, else there is no result." },
	{ .name = "strcmp",
		.arg = { ARG_VAR },
		.min = 1,
		.in = SAMPLE_STR,
		.out = SAMPLE_SINT,
		.conv = conv_strcmp,
		.syntax = "<variable>",
		.doc = "0 if it is the same, else below or above it, as strcmp(3)." },
	{ .name = "unset-var",
		ANY,
		.arg = { ARG_VAR },
		.min = 1,
		.conv = conv_unset,
		.syntax = "<variable>",
		.doc = "Forgets the variable." },
	{ .name = NULL },
};
