/* Fetches of start lines and fields (manual 7.3.6). */
#include <ctype.h>

#include "http/cookie.h"
#include "rule/sample/fetch.h"

const struct http_head *
fetch_head_of(struct sample_ctx *cx, enum fetch_side side, struct sample *s)
{
	if (side == FETCH_RES || (side == FETCH_EITHER && (cx->at & SAMPLE_AT_RES)))
		return cx->res;
	if (!cx->req)
		s->may_change = !cx->req_ended && !cx->req_not_http;
	return cx->req;
}

/* --- start lines --- */

static int
fetch_head_method(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h;

	/* As in HAProxy: whatever rules have made of it, and in responses too. */
	if (cx->method.len) {
		sample_set_str(s, cx->method);
		return 1;
	}
	h = cx->at & SAMPLE_AT_REQ ? fetch_head_of(cx, FETCH_REQ, s) : NULL;
	if (!h)
		return 0;
	sample_set_str(s, h->method_text);
	return 1;
}

static int
fetch_head_version(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)a->kind, s);
	struct str v;

	if (!h)
		return 0;
	v = http_version_name(h->version);
	sample_set_str(s, (struct str){ v.p + strlen("HTTP/"), v.len - strlen("HTTP/") });
	return 1;
}

static int
fetch_status(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = cx->status ? NULL : fetch_head_of(cx, FETCH_RES, s);

	if (!h && !cx->status)
		return 0;
	sample_set_int(s, h ? h->status : cx->status);
	return 1;
}

static int
fetch_req_http(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	sample_set_bool(s, fetch_head_of(cx, FETCH_REQ, s) != NULL);
	return 1;
}

/* --- fields --- */

/* The result of a fetch for a field's values, in kind besides the side. */
enum { AS_LIST = 0, AS_LINE = 4, AS_ADDR = 8, AS_INT = 16, SIDE_MASK = 3 };

struct values {
	const struct http_head *head;
	struct str name;         /* empty: all fields */
	int lines;               /* commas do not separate values */
};

/* The end of the element that s begins with: an unquoted comma. */
static size_t
element_len(struct str s)
{
	int quoted = 0;
	size_t i;

	for (i = 0; i < s.len && (quoted || s.p[i] != ','); i++) {
		if (s.p[i] == '"')
			quoted = !quoted;
		else if (quoted && s.p[i] == '\\' && i + 1 < s.len)
			i++;
	}
	return i;
}

/*
 * The next value. Empty elements count, unlike in http_list_next(): an occurrence is the text
 * between commas.
 */
static int
next_value(const struct values *v, struct sample_cursor *c, struct str *out)
{
	size_t n;

	if (!c->rest.p) {
		int i = v->name.len > 0 ? http_find(v->head, v->name, c->from) : (int)c->from;

		while (v->name.len == 0 && i < (int)v->head->n && v->head->field[i].dropped)
			i++;
		if (i < 0 || i >= (int)v->head->n)
			return 0;
		c->from = (unsigned int)i + 1;
		c->rest = v->head->field[i].value;
		if (!c->rest.p)
			c->rest = STR("");
	}
	n = v->lines ? c->rest.len : element_len(c->rest);
	*out = str_trim((struct str){ c->rest.p, n });
	if (n < c->rest.len)
		c->rest = (struct str){ c->rest.p + n + 1, c->rest.len - n - 1 };
	else
		c->rest.p = NULL;
	return 1;
}

static unsigned int
count_values(const struct values *v)
{
	struct sample_cursor c = { 0 };
	struct str value;
	unsigned int n = 0;

	while (next_value(v, &c, &value))
		n++;
	return n;
}

/* The requested occurrence: from the first, 1, or from the last, -1. */
static int
nth_value(const struct values *v, int64_t nth, struct str *out)
{
	struct sample_cursor c = { 0 };

	if (nth < 0)
		nth += (int64_t)count_values(v) + 1;
	if (nth <= 0)
		return 0;
	while (next_value(v, &c, out))
		if (--nth == 0)
			return 1;
	return 0;
}

/* Without an occurrence: the last one, and then all before it. */
static int
any_value(const struct values *v, struct sample_ctx *cx, struct sample *s, struct str *out)
{
	struct sample_cursor *c = &cx->cursor;
	unsigned int n = 0;

	if (cx->nth > 0) {
		if (c->left == 0 || !next_value(v, c, out))
			return 0;
		s->has_more = --c->left > 0;
		return 1;
	}
	memset(c, 0, sizeof(*c));
	while (next_value(v, c, out))
		n++;
	memset(c, 0, sizeof(*c));
	c->left = n > 0 ? n - 1 : 0;
	s->has_more = n > 1;
	return n > 0;
}

static int
fetch_field(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct values v = { fetch_head_of(cx, (enum fetch_side)(a->kind & SIDE_MASK), s),
		a->arg[0].text, (a->kind & AS_LINE) != 0 };
	struct str text;
	int64_t n = 0;
	int found;

	if (!v.head)
		return 0;
	found = a->arg[1].num != 0 ? nth_value(&v, a->arg[1].num, &text)
				   : any_value(&v, cx, s, &text);
	if (!found)
		return 0;
	sample_set_str(s, text);
	if (a->kind & AS_ADDR)
		return sample_cast(s, SAMPLE_ADDR, cx->arena) == 0;
	if (a->kind & AS_INT) {
		if (sample_parse_int(text, &n))
			n = 0;
		sample_set_int(s, n);
	}
	return 1;
}

static int
fetch_field_count(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct values v = { fetch_head_of(cx, (enum fetch_side)(a->kind & SIDE_MASK), s),
		a->arg[0].text, (a->kind & AS_LINE) != 0 };

	if (!v.head)
		return 0;
	sample_set_int(s, count_values(&v));
	return 1;
}

/* --- all fields --- */

/* In lower case, as in HAProxy. */
static int
fetch_names(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)a->kind, s);
	char delim = a->arg[0].text.len > 0 ? a->arg[0].text.p[0] : ',', *start, *p;
	size_t size = 0;

	if (!h)
		return 0;
	for (unsigned int i = 0; i < h->n; i++)
		if (!h->field[i].dropped)
			size += h->field[i].name.len + 1;
	start = p = arena_get(cx->arena, size);
	if (!p)
		return 0;
	for (unsigned int i = 0; i < h->n; i++) {
		struct str n = h->field[i].name;

		if (h->field[i].dropped)
			continue;
		if (p > start)
			*p++ = delim;
		for (size_t k = 0; k < n.len; k++)
			*p++ = (char)(n.p[k] >= 'A' && n.p[k] <= 'Z' ? n.p[k] + 'a' - 'A' : n.p[k]);
	}
	sample_set_str(s, (struct str){ start, (size_t)(p - start) });
	return 1;
}

static char *
put_head_text(char *p, struct str s)
{
	if (s.len > 0)
		memcpy(p, s.p, s.len);
	return p + s.len;
}

static int
fetch_lines(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)a->kind, s);
	size_t size = 2;
	char *start, *p;

	if (!h)
		return 0;
	for (unsigned int i = 0; i < h->n; i++)
		if (!h->field[i].dropped)
			size += h->field[i].name.len + h->field[i].value.len + 4;
	start = p = arena_get(cx->arena, size);
	if (!p)
		return 0;
	for (unsigned int i = 0; i < h->n; i++) {
		if (h->field[i].dropped)
			continue;
		p = put_head_text(p, h->field[i].name);
		p = put_head_text(p, STR(": "));
		p = put_head_text(p, h->field[i].value);
		p = put_head_text(p, STR("\r\n"));
	}
	p = put_head_text(p, STR("\r\n"));
	sample_set_str(s, (struct str){ start, size });
	return 1;
}

/* --- all of them, in the numbers of SPOE --- */

/* A number in the protocol's encoding: one byte up to 239. With p NULL it is only measured. */
static size_t
put_varint(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	if (v < 240) {
		if (p)
			p[0] = (unsigned char)v;
		return 1;
	}
	if (p)
		p[n] = (unsigned char)(v | 240);
	n++;
	for (v = (v - 240) >> 4; v >= 128; v = (v - 128) >> 7) {
		if (p)
			p[n] = (unsigned char)(v | 128);
		n++;
	}
	if (p)
		p[n] = (unsigned char)v;
	return n + 1;
}

/* A length and the bytes; names are in lower case, as in HAProxy. */
static size_t
put_counted(unsigned char *p, struct str s, int fold)
{
	size_t n = put_varint(p, s.len);

	for (size_t i = 0; p && i < s.len; i++)
		p[n + i] = (unsigned char)(fold ? tolower((unsigned char)s.p[i])
						: (unsigned char)s.p[i]);
	return n + s.len;
}

static size_t
put_counted_fields(const struct http_head *h, unsigned char *p)
{
	size_t n = 0;

	for (unsigned int i = 0; i < h->n; i++) {
		if (h->field[i].dropped)
			continue;
		n += put_counted(p ? p + n : NULL, h->field[i].name, 1);
		n += put_counted(p ? p + n : NULL, h->field[i].value, 0);
	}
	if (p)
		memset(p + n, 0, 2);
	return n + 2;
}

static int
fetch_counted(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)a->kind, s);
	size_t size = h ? put_counted_fields(h, NULL) : 0;
	char *out = h ? arena_get(cx->arena, size) : NULL;

	if (!out)
		return 0;
	(void)put_counted_fields(h, (unsigned char *)out);
	s->type = SAMPLE_BIN;
	s->u.str = (struct str){ out, size };
	return 1;
}

/* --- the table --- */

#define SIDE_REQ .needs = SAMPLE_AT_REQ
#define SIDE_RES .needs = SAMPLE_AT_RES
#define SIDE_EITHER .either = SAMPLE_AT_REQ | SAMPLE_AT_RES
#define FIELD_ARGS .arg = { ARG_STR, ARG_INT }, .syntax = "[<name>[,<occurrence>]]"
#define NAME_ARG .arg = { ARG_STR }, .syntax = "[<name>]"

#define LIST_DOC                                                                          \
	"The last value of that field, a comma ends a value; the occurrence counts from "  \
	"the first (1) or the last (-1). In ACLs without an occurrence: each of them."
#define LINE_DOC "As hdr, but commas do not separate values: the whole field line."
#define ADDR_DOC "As hdr, as an address; a port after an IPv4 address is dropped."
#define INT_DOC "As hdr, as an integer."
#define COUNT_DOC "The number of values of the named field, or of all fields."
#define LINE_COUNT_DOC "The number of field lines of this name, or of any name."

#define FIELD(n, side, as, ...)                                                          \
	{ .name = n, FIELD_ARGS, SIDE_##side, .fetch = fetch_field,                       \
		.kind = FETCH_##side | (as), __VA_ARGS__ }
#define COUNT(n, side, as, text)                                                         \
	{ .name = n, NAME_ARG, SIDE_##side, .out = SAMPLE_SINT,                           \
		.fetch = fetch_field_count, .kind = FETCH_##side | (as), .doc = text }
#define LIST(n, side, ...)                                                               \
	FIELD(n, side, AS_LIST, .out = SAMPLE_STR, .doc = LIST_DOC, .match = "str",       \
		.derives = 1, ##__VA_ARGS__)
#define LINE(n, side) FIELD(n, side, AS_LINE, .out = SAMPLE_STR, .doc = LINE_DOC)
#define ADDR(n, side) FIELD(n, side, AS_ADDR, .out = SAMPLE_ADDR, .doc = ADDR_DOC)
#define INT(n, side) FIELD(n, side, AS_INT, .out = SAMPLE_SINT, .doc = INT_DOC)
#define VERSION(n, side)                                                                 \
	{ .name = n, SIDE_##side, .out = SAMPLE_STR, .fetch = fetch_head_version,              \
		.kind = FETCH_##side, .match = "str", .doc = "The version: 1.0, 1.1 or 2.0." }
#define NAMES(n, side)                                                                   \
	{ .name = n, SIDE_##side, .arg = { ARG_STR }, .syntax = "[<delimiter>]",          \
		.out = SAMPLE_STR, .fetch = fetch_names, .kind = FETCH_##side,            \
		.doc = "The names of all fields in lower case, separated by commas." }
#define LINES(n, side)                                                                   \
	{ .name = n, SIDE_##side, .out = SAMPLE_STR, .fetch = fetch_lines,                \
		.kind = FETCH_##side, .doc = "All field lines and the empty line." }
#define COUNTED(n, side)                                                                 \
	{ .name = n, SIDE_##side, .out = SAMPLE_BIN, .fetch = fetch_counted,              \
		.kind = FETCH_##side,                                                    \
		.doc = "All fields, names and values each behind its length as in SPOE, " \
		       "and two empty ones." }
#define IS_HTTP(n)                                                                       \
	{ .name = n, .out = SAMPLE_BOOL, .fetch = fetch_req_http,                          \
		.doc = "True if an HTTP request has been parsed." }

const struct rule_fetch rule_head_fetches[] = {
	LIST("hdr", EITHER, .acl = "req.hdr"),
	COUNT("hdr_cnt", EITHER, AS_LIST, COUNT_DOC),
	ADDR("hdr_ip", EITHER),
	INT("hdr_val", EITHER),
	{ .name = "method",
		.either = SAMPLE_AT_REQ | SAMPLE_AT_RES | SAMPLE_AT_TXN | SAMPLE_AT_END,
		.out = SAMPLE_STR,
		.fetch = fetch_head_method,
		.match = "str",
		.doc = "The method of the request as it came; also available in responses." },
	LINE("req.fhdr", REQ),
	COUNT("req.fhdr_cnt", REQ, AS_LINE, LINE_COUNT_DOC),
	LIST("req.hdr", REQ),
	COUNT("req.hdr_cnt", REQ, AS_LIST, COUNT_DOC),
	ADDR("req.hdr_ip", REQ),
	NAMES("req.hdr_names", REQ),
	INT("req.hdr_val", REQ),
	LINES("req.hdrs", REQ),
	COUNTED("req.hdrs_bin", REQ),
	IS_HTTP("req.proto_http"),
	VERSION("req.ver", REQ),
	IS_HTTP("req_proto_http"),
	VERSION("req_ver", REQ),
	LINE("res.fhdr", RES),
	COUNT("res.fhdr_cnt", RES, AS_LINE, LINE_COUNT_DOC),
	LIST("res.hdr", RES),
	COUNT("res.hdr_cnt", RES, AS_LIST, COUNT_DOC),
	ADDR("res.hdr_ip", RES),
	NAMES("res.hdr_names", RES),
	INT("res.hdr_val", RES),
	LINES("res.hdrs", RES),
	COUNTED("res.hdrs_bin", RES),
	VERSION("res.ver", RES),
	VERSION("resp_ver", RES),
	LIST("shdr", RES),
	COUNT("shdr_cnt", RES, AS_LIST, COUNT_DOC),
	ADDR("shdr_ip", RES),
	INT("shdr_val", RES),
	{ .name = "status",
		SIDE_RES,
		.instead = SAMPLE_AT_END,
		.out = SAMPLE_SINT,
		.fetch = fetch_status,
		.doc = "The response's status; in log lines only that of a server's response." },
	{ .name = NULL },
};

/* --- cookies --------------------------------------------------------------------------------- */

/* Fetches of cookies (manual 7.3.6). */

enum { COOKIE_TEXT = 0, COOKIE_INT = 4 };

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
	if (a->kind & COOKIE_INT) {
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
		.kind = FETCH_##side | COOKIE_TEXT, .match = "str", .derives = 1,             \
		.doc = "The last cookie of this name, or the first of any name. " \
		       "In ACLs: each of them." }
#define VALUE(n, side)                                                                   \
	{ .name = n, NAME, SIDE_##side, .out = SAMPLE_SINT, .fetch = fetch_cookie,        \
		.kind = FETCH_##side | COOKIE_INT, .doc = "As cook, as an integer." }
#define COOKIE_COUNT(n, side)                                                                   \
	{ .name = n, NAME, SIDE_##side, .out = SAMPLE_SINT, .fetch = fetch_cookie_count,  \
		.kind = FETCH_##side, .doc = "The number of cookies of this name." }

const struct rule_fetch rule_cookie_fetches[] = {
	COOKIE("cook", REQ),
	COOKIE_COUNT("cook_cnt", REQ),
	VALUE("cook_val", REQ),
	COOKIE("cookie", EITHER),
	COOKIE("req.cook", REQ),
	COOKIE_COUNT("req.cook_cnt", REQ),
	VALUE("req.cook_val", REQ),
	COOKIE("res.cook", RES),
	COOKIE_COUNT("res.cook_cnt", RES),
	VALUE("res.cook_val", RES),
	COOKIE("scook", RES),
	COOKIE_COUNT("scook_cnt", RES),
	VALUE("scook_val", RES),
	{ .name = NULL },
};
