/* Fetches of a message's body, and of the bytes that either side sent (manual 7.3.5 and 7.3.6). */
#include "rule/sample/fetch.h"

/* --- bodies --- */

/* The body of that side: 1, or 0: its head has not come. */
static int
find_body(const struct rule_args *a, struct sample_ctx *cx, struct sample *s,
	struct sample_body *body)
{
	if (a->kind == FETCH_RES && !fetch_head_of(cx, FETCH_RES, s))
		return 0;
	*body = sample_body_of(cx, a->kind == FETCH_RES);
	s->may_change = !body->is_whole;
	return 1;
}

static int
fetch_body(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sample_body body;

	if (!find_body(a, cx, s, &body))
		return 0;
	sample_set_str(s, body.content);
	s->type = SAMPLE_BIN;
	return 1;
}

static int
fetch_body_len(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sample_body body;

	if (!find_body(a, cx, s, &body))
		return 0;
	sample_set_int(s, (int64_t)body.content.len);
	return 1;
}

static int
fetch_body_size(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = fetch_head_of(cx, (enum fetch_side)a->kind, s);

	if (!h)
		return 0;
	if (h->framing != HTTP_BODY_LENGTH)
		return fetch_body_len(a, cx, s);
	sample_set_int(s, (int64_t)h->length);
	return 1;
}

/* The next "name=value" of a form; a word without '=' is skipped. */
static int
next_param(struct str *rest, struct str *name, struct str *value)
{
	while (rest->len > 0) {
		const char *end = memchr(rest->p, '&', rest->len), *eq;
		size_t n = end ? (size_t)(end - rest->p) : rest->len;
		struct str word = { rest->p, n };

		n += end != NULL;
		*rest = (struct str){ rest->p + n, rest->len - n };
		eq = memchr(word.p, '=', word.len);
		if (!eq)
			continue;
		*name = (struct str){ word.p, (size_t)(eq - word.p) };
		*value = (struct str){ eq + 1, word.len - name->len - 1 };
		return 1;
	}
	return 0;
}

static int
find_body_param(const struct rule_args *a, struct str *rest, struct str *value)
{
	struct str n, name = a->arg[0].text;
	int nocase = a->arg[1].text.len > 0;

	while (next_param(rest, &n, value))
		if (name.len == 0 || (nocase ? str_is_nocase(n, name) : str_is(n, name)))
			return 1;
	return 0;
}

static int
init_body_param(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	a->bad = 1;
	*why = "the only flag is 'i'";
	return a->arg[1].text.len && !str_is(a->arg[1].text, STR("i")) ? -1 : 0;
}

static int
fetch_body_param(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str value, rest;

	s->may_change = !cx->req_body.is_whole;
	if (cx->nth == 0)
		cx->cursor.rest = cx->req_body.content;
	if (!find_body_param(a, &cx->cursor.rest, &value))
		return 0;
	sample_set_str(s, value);
	rest = cx->cursor.rest;
	s->has_more = (uint8_t)find_body_param(a, &rest, &value);
	return 1;
}

/* --- bytes: mode tcp --- */

static int
is_of_response(const struct rule_args *a, const struct sample_ctx *cx)
{
	enum fetch_side side = (enum fetch_side)a->kind;

	return side == FETCH_RES || (side == FETCH_EITHER && (cx->at & SAMPLE_AT_RES));
}

static struct str
side_bytes(const struct rule_args *a, const struct sample_ctx *cx)
{
	return is_of_response(a, cx) ? cx->res_bytes : cx->req_bytes;
}

static int
fetch_len(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	/* For a message only the number of bytes is available. */
	size_t of_message = is_of_response(a, cx) ? cx->res_len : cx->req_len;

	s->may_change = !cx->req_ended;
	sample_set_int(s, (int64_t)(side_bytes(a, cx).len + of_message));
	return 1;
}

/* len bytes from offset `from` on, 0: all. No buffer is as long as INT32_MAX. */
static int
take_body_bytes(const struct rule_args *a, struct sample_ctx *cx, uint64_t from, uint64_t len,
	struct sample *s)
{
	struct str b = side_bytes(a, cx);

	if (from > b.len || len > b.len - from || (len == 0 && from == b.len)) {
		s->may_change = !cx->req_ended && from + len <= INT32_MAX;
		return 0;
	}
	if (len == 0) {
		s->may_change = !cx->req_ended;
		len = b.len - from;
	}
	sample_set_str(s, (struct str){ b.p + from, len });
	s->type = SAMPLE_BIN;
	return 1;
}

/* As in HAProxy numbers have 32 bits: with a negative one nothing is ever found. */
static int
init_payload(struct rule_args *a, const struct rule_vocab *v unused, const char **why unused)
{
	for (int i = 0; i < 2; i++)
		a->arg[i].num = (uint32_t)a->arg[i].num;
	return 0;
}

static int
fetch_payload(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	return take_body_bytes(a, cx, (uint64_t)a->arg[0].num, (uint64_t)a->arg[1].num, s);
}

/* The third argument is an offset from the start, or "+n", "-n" relative to the end of the
 * length. */
static int
init_payload_lv(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	struct rule_arg *x = &a->arg[2];
	char sign = x->text.len > 0 ? x->text.p[0] : '+';
	int64_t behind;

	*why = "the offset must not be negative";
	a->bad = 0;
	if (a->arg[0].num < 0)
		return -1;
	(void)init_payload(a, v, why);
	*why = "a length takes 1 byte or more";
	a->bad = 1;
	if (a->arg[1].num < 1)
		return -1;
	behind = a->arg[0].num + a->arg[1].num;
	a->bad = 2;
	*why = "it is an offset: N, +N or -N";
	for (size_t i = sign == '+' || sign == '-'; i < x->text.len; i++)
		if (x->text.p[i] < '0' || x->text.p[i] > '9')
			return -1;
	if (x->text.len > 0 && sample_parse_int(x->text, &x->num))
		return -1;
	if (x->num > INT32_MAX || x->num < -INT32_MAX)
		return -1;
	if (sign == '+' || sign == '-')
		x->num += behind;
	*why = "it is before the first byte";
	return x->num < 0 ? -1 : 0;
}

static int
fetch_payload_lv(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	uint32_t len = 0;

	if (!take_body_bytes(a, cx, (uint64_t)a->arg[0].num, (uint64_t)a->arg[1].num, s))
		return 0;
	/* As in HAProxy the last 4 bytes count. */
	for (size_t i = 0; i < s->u.str.len; i++)
		len = len << 8 | (unsigned char)s->u.str.p[i];
	/* nothing follows a length of 0 */
	return len > 0 && take_body_bytes(a, cx, (uint64_t)a->arg[2].num, len, s);
}

static int
fetch_wait_end(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	s->may_change = !cx->req_ended;
	sample_set_bool(s, cx->req_ended);
	return cx->req_ended;
}

#define BYTES_REQ .needs = SAMPLE_AT_REQ, .kind = FETCH_REQ
#define BYTES_RES .needs = SAMPLE_AT_RES, .kind = FETCH_RES
#define BYTES_EITHER .either = SAMPLE_AT_REQ | SAMPLE_AT_RES, .kind = FETCH_EITHER
#define PAYLOAD(n, side)                                                                 \
	{ .name = n, BYTES_##side, .arg = { ARG_INT, ARG_INT }, .min = 2,                 \
		.out = SAMPLE_BIN, .fetch = fetch_payload, .init = init_payload,          \
		.match = "bin", .syntax = "<offset>,<length>",                            \
		.doc = "Mode tcp: this many bytes of the received data (0: all) from this offset." }
#define PAYLOAD_LV(n, side)                                                              \
	{ .name = n, BYTES_##side, .arg = { ARG_INT, ARG_INT, ARG_ENUM }, .min = 2,       \
		.out = SAMPLE_BIN, .fetch = fetch_payload_lv, .init = init_payload_lv,    \
		.match = "bin", .syntax = "<offset>,<size>[,[+-]<offset2>]",              \
		.doc = "Mode tcp: the bytes whose number stands, highest byte first, in " \
		       "<size> bytes at <offset>; they begin behind it or at <offset2>." }
#define LEN(n, side)                                                                     \
	{ .name = n, BYTES_##side, .out = SAMPLE_SINT, .fetch = fetch_len,                \
		.doc = "How many bytes that side has sent; in mode http how many there "  \
		       "are of its message, the head among them." }
#define BODY(n, side, what)                                                              \
	{ .name = n, BYTES_##side, .out = SAMPLE_BIN, .fetch = fetch_body, .doc = what }, \
	{ .name = n "_len", BYTES_##side, .out = SAMPLE_SINT, .fetch = fetch_body_len,    \
		.doc = "The length of " n "." }
#define BODY_SIZE(n, side)                                                               \
	{ .name = n, BYTES_##side, .out = SAMPLE_SINT, .fetch = fetch_body_size,          \
		.doc = "The announced length of the body, or the length of what was "     \
		       "received." }

const struct rule_fetch rule_body_fetches[] = {
	PAYLOAD("payload", EITHER),
	PAYLOAD_LV("payload_lv", EITHER),
	BODY("req.body", REQ,
		"The part of the request body that was received: see option http-buffer-request."),
	{ .name = "req.body_param",
		.needs = SAMPLE_AT_REQ,
		.arg = { ARG_STR, ARG_ENUM },
		.syntax = "[<name>[,i]]",
		.out = SAMPLE_STR,
		.fetch = fetch_body_param,
		.init = init_body_param,
		.doc = "The first parameter of this name in a urlencoded body, not decoded; i "
			"ignores the case of the name." },
	BODY_SIZE("req.body_size", REQ),
	LEN("req.len", REQ),
	PAYLOAD("req.payload", REQ),
	PAYLOAD_LV("req.payload_lv", REQ),
	LEN("req_len", REQ),
	BODY("res.body", RES,
		"The part of the response body that was received: see http-response "
		"wait-for-body."),
	BODY_SIZE("res.body_size", RES),
	LEN("res.len", RES),
	PAYLOAD("res.payload", RES),
	PAYLOAD_LV("res.payload_lv", RES),
	{ .name = "wait_end",
		.either = SAMPLE_AT_REQ | SAMPLE_AT_RES | SAMPLE_AT_END,
		.out = SAMPLE_BOOL,
		.fetch = fetch_wait_end,
		.doc = "True if no more data is waited for." },
	{ .name = NULL },
};
