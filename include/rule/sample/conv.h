/* What converters share. */
#ifndef TACIT_RULE_SAMPLE_CONV_H
#define TACIT_RULE_SAMPLE_CONV_H

#include "rule/sample/tables.h"

/* Makes text of the first n bytes of p, which arena_get() gave (NULL: no result), and gives back
 * what was got beyond them. */
static inline int
conv_text(struct sample_ctx *cx, struct sample *s, char *p, size_t n)
{
	if (!p)
		return 0;
	cx->arena->used = (size_t)(p - cx->arena->p) + n;
	sample_set_str(s, (struct str){ p, n });
	return 1;
}

static inline int
conv_bytes(struct sample_ctx *cx, struct sample *s, char *p, size_t n)
{
	int r = conv_text(cx, s, p, n);

	s->type = SAMPLE_BIN;
	return r;
}

/* An argument's number, or that of the variable it names. 0: the variable has none. */
static inline int
conv_number(const struct rule_arg *a, struct sample_ctx *cx, int64_t *out)
{
	struct sample v;

	*out = a->num;
	if (a->type != ARG_VAR)
		return 1;
	if (!var_find(cx, a->u.var, &v) || sample_cast(&v, SAMPLE_SINT, cx->arena))
		return 0;
	*out = v.u.sint;
	return 1;
}

/* Room for what base64 of n bytes decodes to. */
#define CODE_B64_ROOM(n) ((n) / 4 * 3 + 2)
/* Decodes base64 (padding where it belongs): the bytes that made it, or -1. */
long code_b64_decode(struct str text, char *out);

#endif
