/* The converter regsub (manual 7.3.1). */
#include "rule/sample/conv.h"
#include "rule/sample/regex.h"

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
		.arg = { ARG_REGEX, ARG_STR, ARG_STR },
		.min = 2,
		.in = SAMPLE_STR,
		.out = SAMPLE_STR,
		.conv = conv_regsub,
		.init = init_regsub,
		.free = free_regsub,
		.syntax = "<regex>,<replacement>[,<flags>]",
		.doc = "Replaces the first match of a regular expression, or with flag g all "
			"matches; flag i ignores case. \\0 to \\9 are replaced by groups." },
	{ .name = NULL },
};
