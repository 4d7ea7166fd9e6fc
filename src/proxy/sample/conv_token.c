/* The converter jwt_verify (manual 7.3.1): whether the signature of a JSON Web Token is right. A
 * file with a key is read by the main thread, with the configuration. */
#include "proxy/sample/fetch.h"

#include "base/file.h"
#include "base/mem.h"
#include "rule/match/pattern_file.h"
#include "rule/sample/conv.h"
#include "tls/token.h"

#define KEY_FILE_MAX 65536 /* bytes */
#define ALG_OF_VARIABLE (-1) /* in kind, which is the algorithm otherwise */

/* The key in a file whose name the second argument is, if there is one. */
static void *
read_token_key(const struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	struct sys *sys = v->files ? v->files->sys : NULL;
	struct tls_token_key *k;
	char *text;
	size_t len;

	*why = "the file cannot be read";
	if (!sys || file_read(sys, a->arg[1].text.p, KEY_FILE_MAX, &text, &len) < 0)
		return NULL;
	*why = "the file has no public key and no certificate in PEM";
	k = tls_token_key_read(text, len);
	mem_free(text);
	return k;
}

static int
init_token(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	enum tls_token_alg alg;

	a->kind = ALG_OF_VARIABLE;
	if (a->arg[0].type != ARG_VAR) {
		*why = "the algorithm is HS, RS or ES with 256, 384 or 512, none, or a variable";
		if (tls_token_alg(a->arg[0].text, &alg) || alg >= TOKEN_PS256)
			return -1;
		a->kind = alg;
	}
	a->bad = 1;
	*why = "the key is a secret, a file or a variable, and not empty";
	if (a->arg[1].text.len == 0)
		return -1;
	if (a->kind >= TOKEN_NONE && a->kind <= TOKEN_HS512)
		return 0;
	*why = "a public key is in a file, not in a variable";
	if (a->arg[1].type != ARG_VAR)
		a->arg[1].ref = read_token_key(a, v, why);
	return a->arg[1].ref || a->kind == ALG_OF_VARIABLE ? 0 : -1;
}

static void
free_token(struct rule_args *a)
{
	tls_token_key_free(a->arg[1].ref);
	a->arg[1].ref = NULL;
}

/* The text of an argument or of its variable. */
static int
token_text(const struct rule_arg *a, struct sample_ctx *cx, struct str *out)
{
	struct sample v;

	*out = a->text;
	if (a->type != ARG_VAR)
		return 1;
	if (!var_find(cx, a->u.var, &v) || sample_cast(&v, SAMPLE_STR, cx->arena))
		return 0;
	*out = v.u.str;
	return 1;
}

/*
 * A client mostly chooses the value of a variable. It may not do without a signature, nor have the
 * name of a file taken for a secret.
 */
static enum tls_token_result
check_token(const struct rule_args *a, enum tls_token_alg alg, struct str key, struct str token,
	struct arena *arena)
{
	const struct tls_token_key *file = a->arg[1].ref;
	struct str part[3], text = { token.p, 0 }, sig;
	unsigned int n = conv_split_token(token, part);
	char *p;
	long len;

	if (n != 3 && !(n == 2 && alg == TOKEN_NONE))
		return TOKEN_INVALID;
	if (alg == TOKEN_NONE)
		return a->kind != ALG_OF_VARIABLE && (n == 2 || part[2].len == 0) ? TOKEN_VALID
										  : TOKEN_FALSE;
	p = arena_get(arena, CODE_B64_ROOM(part[2].len));
	if (!p)
		return TOKEN_NO_MEMORY;
	len = code_b64url_decode(part[2], p);
	if (len <= 0)
		return TOKEN_INVALID;
	sig = (struct str){ p, (size_t)len };
	text.len = part[0].len + 1 + part[1].len;
	if (!tls_token_is_hmac(alg))
		return tls_token_check_key(alg, file, text, sig);
	return file ? TOKEN_FALSE : tls_token_check_secret(alg, key, text, sig);
}

static int
conv_verify(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	size_t mark = arena_mark(cx->arena);
	enum tls_token_result r = TOKEN_BAD_ALG;
	enum tls_token_alg alg;
	struct str name, key;

	if (!token_text(&a->arg[0], cx, &name) || !token_text(&a->arg[1], cx, &key))
		return 0;
	if (tls_token_alg(name, &alg) == 0)
		r = alg >= TOKEN_PS256 ? TOKEN_OTHER_ALG
				       : check_token(a, alg, key, s->u.str, cx->arena);
	arena_release(cx->arena, mark);
	sample_set_int(s, r);
	return 1;
}

const struct rule_conv token_convs[] = {
	{ .name = "jwt_verify",
		.example = "http_auth_bearer,jwt_verify(RS256,/etc/tacit/public.pem)",
		.arg = { ARG_STRVAR, ARG_STRVAR },
		.min = 2,
		.in = SAMPLE_BIN,
		.out = SAMPLE_SINT,
		.conv = conv_verify,
		.init = init_token,
		.free = free_token,
		.syntax = "<alg>|<variable>,<secret>|<file>|<variable>",
		.doc = "Verifies the signature of a JSON Web Token: 1 valid, 0 not, -1 unknown "
			"algorithm, -2 PS256 and the like, -3 not a token, -4 out of memory, -5 no "
			"key. For RS and ES the key is a file with a public key or a certificate "
			"in PEM." },
	{ .name = NULL },
};
