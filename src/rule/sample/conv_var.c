/* Converters that set variables, join their values, and compare with them (manual 7.3.1). */
#include "rule/sample/conv.h"
#include "rule/sample/var_cond.h"

/* --- set-var, unset-var --- */

static int
init_set(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	unsigned int when = 0, bit;

	*why = "the conditions are " VAR_COND_WORDS;
	for (a->bad = 1; a->bad < a->n; a->bad++) {
		bit = var_cond_parse(a->arg[a->bad].text);
		if (!bit)
			return -1;
		when |= bit;
	}
	a->kind = when;
	return 0;
}

/* The text may be the variable's own, which must stay valid until the new one is stored. */
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
	struct var_name name = a->arg[0].u.var;

	return var_cond_hold((unsigned int)a->kind, cx, name, s) && keep_text(cx, s) &&
		var_store(cx, name, s) == 0;
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

/* The variable as text; empty if not set. */
static struct str
value_text(const struct rule_arg *a, struct sample_ctx *cx)
{
	struct sample v;

	if (a->type != ARG_VAR || !var_find(cx, a->u.var, &v) ||
		sample_cast(&v, SAMPLE_STR, cx->arena))
		return STR("");
	return v.u.str;
}

/* kind: true if the first argument separates non-empty values. */
static int
conv_join(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str first = a->arg[0].text, var = value_text(&a->arg[1], cx), last = a->arg[2].text;
	struct str t = s->u.str;
	char *p;

	if (a->kind && (t.len == 0 || (var.len == 0 && last.len == 0)))
		first.len = 0;
	p = arena_get(cx->arena, t.len + first.len + var.len + last.len);
	if (!p)
		return 0;
	s->u.str = (struct str){ p, t.len + first.len + var.len + last.len };
	/* memcpy() does not accept NULL */
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
	/* the difference itself, as with HAProxy on glibc; strncmp() only specifies its sign */
	while (i < MIN(t.len, o.len) && t.p[i] == o.p[i])
		i++;
	d = i < MIN(t.len, o.len) ? (unsigned char)t.p[i] - (unsigned char)o.p[i]
		: t.len < o.len   ? -1
				  : t.len > o.len;
	sample_set_int(s, d);
	return 1;
}

/* Constant time for texts of one length. */
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
		.doc = "Appends a variable and a suffix, with the delimiter before them unless one "
			"side is empty." },
	{ .name = "concat",
		.example = "str(a),concat(-b) gives a-b",
		TEXT,
		.arg = { ARG_STR, ARG_VAR, ARG_STR },
		.conv = conv_join,
		.init = init_join,
		.kind = 0,
		.syntax = "[<start>],[<variable>],[<end>]",
		.doc = "Appends these values." },
	{ .name = "secure_memcmp",
		.example = "req.hdr(x-token),secure_memcmp(txn.token)",
		.arg = { ARG_VAR },
		.min = 1,
		.in = SAMPLE_BIN,
		.out = SAMPLE_BOOL,
		.conv = conv_same,
		.syntax = "<variable>",
		.doc = "Compares with a variable in constant time." },
	{ .name = "set-var",
		.example = "req.hdr(host),lower,set-var(txn.host)",
		ANY,
		.arg = { ARG_VAR, ARG_ENUM, ARG_ENUM, ARG_ENUM, ARG_ENUM },
		.min = 1,
		.conv = conv_set,
		.init = init_set,
		.syntax = "<variable>[,<condition>...]",
		.doc = "Sets the variable if all conditions are true; otherwise there is no "
			"result." },
	{ .name = "strcmp",
		.example = "ssl_fc_sni,strcmp(txn.host)",
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
		.doc = "Deletes the variable." },
	{ .name = NULL },
};
