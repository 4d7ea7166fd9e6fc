/* Fetches of a client's credentials (manual 7.3.6; RFC 7617, RFC 6750). Nothing is
 * checked: that is proxy/sample/fetch_userlist.c. */
#include "rule/sample/conv.h"
#include "rule/sample/fetch.h"

static struct str
credentials_field(const struct sample_ctx *cx)
{
	return cx->is_proxied ? STR("Proxy-Authorization") : STR("Authorization");
}

/* "Scheme credentials" of a field, or -1. */
static int
split_auth(const struct http_head *h, struct str field, struct str *scheme, struct str *rest)
{
	int i = http_find(h, field, 0);
	struct str v;
	size_t n = 0;

	if (i < 0)
		return -1;
	v = h->field[i].value;
	while (n < v.len && v.p[n] != ' ')
		n++;
	*scheme = (struct str){ v.p, n };
	while (n < v.len && v.p[n] == ' ')
		n++;
	*rest = (struct str){ v.p + n, v.len - n };
	return rest->len > 0 ? 0 : -1;
}

/* "user:password", in the arena; -1: invalid. */
static int
decode_basic(struct sample_ctx *cx, struct str text, struct str *user, struct str *pass)
{
	const char *colon;
	char *p = arena_get(cx->arena, CODE_B64_ROOM(text.len));
	long n = p ? code_b64_decode(text, p) : -1;

	colon = n > 0 ? memchr(p, ':', (size_t)n) : NULL;
	if (!colon)
		return -1;
	*user = (struct str){ p, (size_t)(colon - p) };
	*pass = (struct str){ colon + 1, (size_t)n - user->len - 1 };
	return 0;
}

int
rule_basic_auth(struct sample_ctx *cx, struct sample *s, struct str *user, struct str *pass)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	struct str scheme, rest;

	return h && split_auth(h, credentials_field(cx), &scheme, &rest) == 0 &&
		str_is_nocase(scheme, STR("Basic")) && decode_basic(cx, rest, user, pass) == 0;
}

enum part { AUTH_TYPE, AUTH_USER, AUTH_PASS };

static int
fetch_auth_field(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	struct str scheme, rest, user, pass;

	if (!h || split_auth(h, credentials_field(cx), &scheme, &rest))
		return 0;
	if (a->kind == AUTH_TYPE && str_is_nocase(scheme, STR("Bearer"))) {
		sample_set_str(s, STR("Bearer"));
		return 1;
	}
	if (!rule_basic_auth(cx, s, &user, &pass))
		return 0;
	sample_set_str(s, a->kind == AUTH_TYPE ? STR("Basic") : a->kind == AUTH_USER ? user : pass);
	return 1;
}

static int
fetch_bearer(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	struct str field = a->arg[0].text.len > 0 ? a->arg[0].text : credentials_field(cx);
	struct str scheme, rest;

	if (!h || split_auth(h, field, &scheme, &rest) || !str_is_nocase(scheme, STR("Bearer")))
		return 0;
	sample_set_str(s, rest);
	return 1;
}

#define AUTH(n, k, text)                                                                 \
	{ .name = n, .needs = SAMPLE_AT_REQ, .out = SAMPLE_STR, .fetch = fetch_auth_field,      \
		.kind = k, .doc = text }

const struct rule_fetch rule_auth_fetches[] = {
	{ .name = "http_auth_bearer",
		.needs = SAMPLE_AT_REQ,
		.arg = { ARG_STR },
		.syntax = "[<field>]",
		.out = SAMPLE_STR,
		.fetch = fetch_bearer,
		.doc = "The token of the scheme Bearer, in Authorization or the named field." },
	AUTH("http_auth_pass", AUTH_PASS, "The password of the scheme Basic."),
	AUTH("http_auth_type", AUTH_TYPE, "The authentication scheme of the client: Basic or "
		"Bearer."),
	AUTH("http_auth_user", AUTH_USER, "The user of the scheme Basic."),
	{ .name = NULL },
};
