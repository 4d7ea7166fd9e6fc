/* Fetches of request targets (manual 7.3.6). */
#include "base/hash.h"
#include "rule/sample/fetch.h"
#include "http/uri.h"

enum part { PART_URL, PART_PATH, PART_PATHQ, PART_QUERY };

static int
fetch_part(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	struct http_uri u;
	struct str part;

	if (!h)
		return 0;
	http_uri_split(h->target, &u);
	part = a->kind == PART_URL ? h->target
		: a->kind == PART_PATH ? u.path
		: a->kind == PART_PATHQ ? u.pathq
					: u.query;
	if (!part.p)
		return 0;
	sample_set_str(s, part);
	return 1;
}

/* kind: true for including the query. */
static int
fetch_base(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	int host = h ? http_find_id(h, HTTP_F_HOST, 0) : -1;
	size_t cap;
	char *p;
	long n;

	if (!h)
		return 0;
	cap = h->target.len + (host < 0 ? 0 : h->field[host].value.len);
	p = arena_get(cx->arena, cap);
	n = p ? http_base(h, (int)a->kind, p, cap) : 0;
	if (n <= 0)
		return 0;
	sample_set_str(s, (struct str){ p, (size_t)n });
	return 1;
}

/* A hash of the text, for tables of frequent requests. */
static int
fetch_base_hash(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	size_t mark = arena_mark(cx->arena);

	if (!fetch_base(a, cx, s))
		return 0;
	sample_set_int(s, hash_avalanche(hash_sdbm(s->u.str.p, s->u.str.len)));
	arena_release(cx->arena, mark);
	return 1;
}

int
rule_base_hash(struct sample_ctx *cx, int with_query, struct sample *s)
{
	const struct rule_args a = { .kind = with_query };

	return fetch_base_hash(&a, cx, s);
}

static int
request_authority(struct sample_ctx *cx, struct sample *s, struct http_authority *out)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	struct http_uri u;

	if (!h)
		return -1;
	http_uri_split(h->target, &u);
	return u.authority.p && http_authority_parse(u.authority, out) == 0 ? 0 : -1;
}

static int
fetch_url_ip(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct http_authority auth;

	if (request_authority(cx, s, &auth))
		return 0;
	sample_set_str(s, auth.host);
	return sample_cast(s, SAMPLE_ADDR, cx->arena) == 0;
}

static int
fetch_url_port(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct http_authority auth;

	if (request_authority(cx, s, &auth))
		return 0;
	sample_set_int(s, auth.port < 0 ? 80 : auth.port);
	return 1;
}

/* --- parameters --- */

static int
init_param(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	a->bad = 1;
	*why = "the delimiter is one character";
	if (a->arg[1].text.len > 1)
		return -1;
	a->bad = 2;
	*why = "the only flag is 'i'";
	return a->arg[2].text.len && !str_is(a->arg[2].text, STR("i")) ? -1 : 0;
}

static int
find_uri_param(const struct rule_args *a, struct str *rest, char delim, struct str *value)
{
	struct str n, name = a->arg[0].text;
	int nocase = a->arg[2].text.len > 0;

	while (http_param_next(rest, delim, &n, value))
		if (name.len == 0 || (nocase ? str_is_nocase(n, name) : str_is(n, name)))
			return 1;
	return 0;
}

/* The first one, then the following ones. kind: as an integer. */
static int
fetch_param(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, FETCH_REQ, s);
	char delim = a->arg[1].text.len > 0 ? a->arg[1].text.p[0] : '?';
	struct str value, rest, more;
	int64_t n = 0;

	if (!h)
		return 0;
	if (cx->nth == 0)
		cx->cursor.rest = http_params(h->target, delim);
	if (!cx->cursor.rest.p || !find_uri_param(a, &cx->cursor.rest, delim, &value))
		return 0;
	rest = cx->cursor.rest;
	s->has_more = (uint8_t)find_uri_param(a, &rest, delim, &more);
	sample_set_str(s, value);
	if (a->kind) {
		if (sample_parse_int(value, &n))
			n = 0;
		sample_set_int(s, n);
	}
	return 1;
}

#define REQ .needs = SAMPLE_AT_REQ
#define PART(n, part, words)                                                             \
	{ .name = n, REQ, .out = SAMPLE_STR, .fetch = fetch_part, .kind = PART_##part,    \
		.doc = words, .match = "str", .derives = 1 }
#define BASE(n, query, words)                                                            \
	{ .name = n, REQ, .out = SAMPLE_STR, .fetch = fetch_base, .kind = query,          \
		.doc = words, .match = "str", .derives = 1 }
#define PARAM(n)                                                                         \
	{ .name = n, REQ, .arg = { ARG_STR, ARG_STR, ARG_ENUM },                          \
		.syntax = "[<name>[,<delim>[,i]]]",                                       \
		.out = SAMPLE_STR, .fetch = fetch_param, .init = init_param,              \
		.match = "str", .derives = 1,                                             \
		.doc = "The first parameter of that name (of any) in the query, which "   \
		       "begins behind '?' or <delim>, as it came; i ignores the case of the "     \
		       "name. In ACLs: each." }

const struct rule_fetch rule_uri_fetches[] = {
	BASE("base", 0, "The first Host field followed by the path."),
	{ .name = "base32",
		REQ,
		.out = SAMPLE_SINT,
		.fetch = fetch_base_hash,
		.kind = 0,
		.doc = "A hash of base: base,sdbm(1)." },
	BASE("baseq", 1, "The first Host field followed by the path and the query."),
	PART("path", PATH, "The path: from the first slash to the question mark."),
	PART("pathq", PATHQ, "The path and the query."),
	PART("query", QUERY, "The part after the first question mark."),
	PART("url", URL, "The request target as received."),
	{ .name = "url32",
		REQ,
		.out = SAMPLE_SINT,
		.fetch = fetch_base_hash,
		.kind = 1,
		.doc = "A hash of baseq: baseq,sdbm(1)." },
	{ .name = "url_ip",
		REQ,
		.out = SAMPLE_ADDR,
		.fetch = fetch_url_ip,
		.doc = "The address in the target's authority." },
	PARAM("url_param"),
	{ .name = "url_port",
		REQ,
		.out = SAMPLE_SINT,
		.fetch = fetch_url_port,
		.doc = "The port in the target's authority; 80 if it has none." },
	PARAM("urlp"),
	{ .name = "urlp_val",
		REQ,
		.arg = { ARG_STR, ARG_STR, ARG_ENUM },
		.syntax = "[<name>[,<delim>[,i]]]",
		.out = SAMPLE_SINT,
		.fetch = fetch_param,
		.init = init_param,
		.kind = 1,
		.doc = "As urlp, as an integer." },
	{ .name = NULL },
};
