/* Shared by the converters. */
#ifndef TACIT_RULE_SAMPLE_CONV_H
#define TACIT_RULE_SAMPLE_CONV_H

#include "rule/sample/tables.h"

/* Makes a text of the first n bytes of p from arena_get() (NULL: no result), and returns the rest
 * to the arena. */
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

/* No result: it is longer than a value may be. */
static inline int
conv_too_long(struct sample_ctx *cx)
{
	cx->arena->refused++;
	return 0;
}

/* The number in an argument, or of the variable that it names. 0: the variable is not set. */
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

/* A Host field without its port, in lower case, in the arena; p NULL without memory. */
struct str conv_host_part(struct str host, struct arena *a);
/* Maximum decoded size of n bytes of base64. */
#define CODE_B64_ROOM(n) ((n) / 4 * 3 + 2)
/* Decodes base64 with padding: the number of bytes, or -1. */
long code_b64_decode(struct str text, char *out);
/* The same for base64url, without padding. */
long code_b64url_decode(struct str text, char *out);

/* The parts of a token in the compact form of JWS (RFC 7515, 7.1), still encoded. Their number; 4:
 * more than 3. */
unsigned int conv_split_token(struct str token, struct str part[3]);

#endif
