/* Converters that take a value out of JSON (manual 7.3.1): out of a text, or of the parts of a JSON
 * Web Token (RFC 7519). */
#include "base/mem.h"
#include "rule/sample/conv.h"
#include "rule/sample/json_path.h"

static int
init_json_query(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	a->arg[0].ref = json_path_parse(a->arg[0].text, why);
	if (!a->arg[0].ref)
		return -1;
	a->bad = 1;
	*why = "the only type is 'int'";
	return a->arg[1].type == ARG_END || str_is(a->arg[1].text, STR("int")) ? 0 : -1;
}

static void
free_json_query(struct rule_args *a)
{
	mem_free(a->arg[0].ref);
	a->arg[0].ref = NULL;
}

static int
conv_json_query(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	return json_path_sample(a->arg[0].ref, a->arg[1].type != ARG_END, s->u.str, cx->arena, s);
}

/* --- tokens --- */

/* kind of the converters, and the index of the part. */
enum { TOKEN_HEADER, TOKEN_PAYLOAD };

unsigned int
conv_split_token(struct str token, struct str part[3])
{
	unsigned int n = 0;

	for (size_t start = 0, at = 0; at <= token.len; at++) {
		if (at < token.len && token.p[at] != '.')
			continue;
		if (n == 3)
			return 4;
		part[n++] = (struct str){ token.p + start, at - start };
		start = at + 1;
	}
	return n;
}

static int
init_token_query(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	if (a->arg[0].type != ARG_END)
		return init_json_query(a, v, why);
	*why = "a type needs a path";
	a->bad = 1;
	return a->arg[1].type == ARG_END ? 0 : -1;
}

static int
conv_token_query(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str part[3];
	char *p;
	long n;

	if (conv_split_token(s->u.str, part) <= (unsigned int)a->kind)
		return 0;
	p = arena_get(cx->arena, CODE_B64_ROOM(part[a->kind].len));
	n = p ? code_b64url_decode(part[a->kind], p) : -1;
	if (n < 0 || !conv_bytes(cx, s, p, (size_t)n))
		return 0;
	return !a->arg[0].ref || conv_json_query(a, cx, s);
}

#define TOKEN(n, k, text)                                                                \
	{ .name = n, .arg = { ARG_ENUM, ARG_ENUM }, .in = SAMPLE_BIN, .out = SAMPLE_ANY,  \
		.conv = conv_token_query, .init = init_token_query,                       \
		.free = free_json_query, .kind = k, .syntax = "[<path>[,int]]",           \
		.doc = "The " text " of a JSON Web Token, or a value of it: see json_query." }

const struct rule_conv rule_json_query_convs[] = {
	{ .name = "json_query",
		.arg = { ARG_ENUM, ARG_ENUM },
		.min = 1,
		.in = SAMPLE_STR,
		.out = SAMPLE_ANY,
		.conv = conv_json_query,
		.init = init_json_query,
		.free = free_json_query,
		.syntax = "<path>[,int]",
		.doc = "The value at a path such as $.name.list[0]['a.b'] of a JSON text: a "
			"string, a number as it stands (an integer with int), or a boolean." },
	TOKEN("jwt_header_query", TOKEN_HEADER, "header"),
	TOKEN("jwt_payload_query", TOKEN_PAYLOAD, "payload"),
	{ .name = NULL },
};
