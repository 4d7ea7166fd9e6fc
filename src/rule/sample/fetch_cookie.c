/* Fetches of cookies (manual 7.3.6). */
#include "rule/sample/fetch.h"
#include "http/cookie.h"

enum { AS_TEXT = 0, AS_INT = 4, SIDE_MASK = 3 };

/* The next cookie with this name (with any, if it is empty). */
static int
next_cookie(const struct http_head *h, struct http_cookie_walk *w, struct str name,
	struct http_cookie *out)
{
	while (h->kind == HTTP_REQUEST ? http_cookie_next(h, w, out)
				       : http_set_cookie_next(h, w, out))
		if (name.len == 0 || str_is(out->name, name))
			return 1;
	return 0;
}

/* The last one with this name, or the first of any; then all others. */
static int
any_cookie(const struct http_head *h, struct str name, struct sample_ctx *cx, struct sample *s,
	struct http_cookie *out)
{
	struct http_cookie_walk w = { 0 };
	struct sample_cursor *c = &cx->cursor;
	struct http_cookie x;
	unsigned int n = 0;

	if (cx->nth > 0) {
		w = (struct http_cookie_walk){ c->from, c->place, c->rest };
		if (c->left == 0 || !next_cookie(h, &w, name, out))
			return 0;
		*c = (struct sample_cursor){ w.rest, w.from, w.place, c->left - 1 };
		s->has_more = c->left > 0;
		return 1;
	}
	memset(c, 0, sizeof(*c));
	while (next_cookie(h, &w, name, &x)) {
		if (n++ == 0 && name.len == 0)
			*c = (struct sample_cursor){ w.rest, w.from, w.place, 0 };
		if (n == 1 || name.len > 0)
			*out = x;
	}
	c->left = n > 0 ? n - 1 : 0;
	s->has_more = n > 1;
	return n > 0;
}

static int
fetch_cookie(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)(a->kind & SIDE_MASK), s);
	struct http_cookie cookie;
	int64_t n = 0;

	if (!h || !any_cookie(h, a->arg[0].text, cx, s, &cookie))
		return 0;
	sample_set_str(s, cookie.value);
	if (a->kind & AS_INT) {
		if (sample_parse_int(cookie.value, &n))
			n = 0;
		sample_set_int(s, n);
	}
	return 1;
}

static int
fetch_cookie_count(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)(a->kind & SIDE_MASK), s);
	struct http_cookie_walk w = { 0 };
	struct http_cookie cookie;
	int64_t n = 0;

	if (!h)
		return 0;
	while (next_cookie(h, &w, a->arg[0].text, &cookie))
		n++;
	sample_set_int(s, n);
	return 1;
}

#define SIDE_REQ .needs = SAMPLE_AT_REQ
#define SIDE_RES .needs = SAMPLE_AT_RES
#define SIDE_EITHER .either = SAMPLE_AT_REQ | SAMPLE_AT_RES
#define NAME .arg = { ARG_STR }, .syntax = "[<name>]"

#define COOKIE(n, side)                                                                  \
	{ .name = n, NAME, SIDE_##side, .out = SAMPLE_STR, .fetch = fetch_cookie,         \
		.kind = FETCH_##side | AS_TEXT, .match = "str", .derives = 1,             \
		.doc = "The last cookie of this name, or the first of any name. " \
		       "In ACLs: each of them." }
#define VALUE(n, side)                                                                   \
	{ .name = n, NAME, SIDE_##side, .out = SAMPLE_SINT, .fetch = fetch_cookie,        \
		.kind = FETCH_##side | AS_INT, .doc = "As cook, as an integer." }
#define COUNT(n, side)                                                                   \
	{ .name = n, NAME, SIDE_##side, .out = SAMPLE_SINT, .fetch = fetch_cookie_count,  \
		.kind = FETCH_##side, .doc = "The number of cookies of this name." }

const struct rule_fetch rule_cookie_fetches[] = {
	COOKIE("cook", REQ),
	COUNT("cook_cnt", REQ),
	VALUE("cook_val", REQ),
	COOKIE("cookie", EITHER),
	COOKIE("req.cook", REQ),
	COUNT("req.cook_cnt", REQ),
	VALUE("req.cook_val", REQ),
	COOKIE("res.cook", RES),
	COUNT("res.cook_cnt", RES),
	VALUE("res.cook_val", RES),
	COOKIE("scook", RES),
	COUNT("scook_cnt", RES),
	VALUE("scook_val", RES),
	{ .name = NULL },
};
