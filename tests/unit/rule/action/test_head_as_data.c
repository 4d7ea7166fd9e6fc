/*
 * Heads without bytes of HTTP/1: filled as by a decoder of HTTP/2 (RFC 9113, 8.3), changed by
 * rules, and written both as HTTP/1 and as the list of fields that HTTP/2 sends.
 */
#include "unit/rule/action_rig.h"

#include "http/h1_framing.h"
#include "http/reply.h"
#include "http/uri.h"
#include "http/validate.h"

#include <stdlib.h>

#define FIELDS 12

struct line {
	const char *name, *value;
};

/* A header block, and whether END_STREAM comes with it. */
struct block {
	struct line line[FIELDS];
	int ends;
};

/* --- input of HTTP/2 --- */

static int
take_pseudo(struct http_head *h, const char *name, struct str value)
{
	if (strcmp(name, ":method") == 0) {
		h->method_text = value;
		h->method = http_method_of(value);
	} else if (strcmp(name, ":path") == 0) {
		h->target = value;
	} else if (strcmp(name, ":authority") == 0) {
		if (h->method == HTTP_CONNECT)
			h->target = value;
		return http_add(h, STR("host"), value);
	} else if (strcmp(name, ":status") == 0) {
		h->status = (unsigned int)strtoul(value.p, NULL, 10);
	} else {
		return strcmp(name, ":scheme") == 0 ? 0 : -1;
	}
	return 0;
}

static enum http_bad
take_field(struct http_head *h, struct str name, struct str value)
{
	struct http_field f = { .name = name, .value = value,
		.id = (uint16_t)http_field_id(name) };
	enum http_bad why = http_validate_field(h, &f);

	if (why == HTTP_BAD_NONE && http_add(h, name, value) < 0)
		why = HTTP_BAD_FIELD_VALUE;
	return why;
}

/* END_STREAM ends the body; Content-Length is optional. */
static void
take_framing(struct http_head *h, int ends)
{
	int at = http_find_id(h, HTTP_F_CONTENT_LENGTH, 0);

	h->framing = HTTP_BODY_CHUNKED;
	if (ends)
		h->framing = HTTP_BODY_NONE;
	else if (h->method == HTTP_CONNECT)
		h->framing = HTTP_BODY_TUNNEL;
	else if (at >= 0 && http_length_of(h->field[at].value, &h->length) == 0)
		h->framing = HTTP_BODY_LENGTH;
}

static enum http_bad
fill(struct http_head *h, enum http_kind kind, struct http_field *field, const struct block *b)
{
	enum http_bad why = HTTP_BAD_NONE;

	http_head_init(h, kind, field, RIG_FIELDS);
	for (size_t i = 0; i < FIELDS && b->line[i].name && why == HTTP_BAD_NONE; i++) {
		const struct line *l = &b->line[i];

		if (l->name[0] == ':')
			assert_int_equal(take_pseudo(h, l->name, str_of(l->value)), 0);
		else
			why = take_field(h, str_of(l->name), str_of(l->value));
	}
	if (kind != HTTP_TRAILERS)
		take_framing(h, b->ends);
	return why == HTTP_BAD_NONE ? http_validate_head(h) : why;
}

/* --- output of HTTP/2 --- */

static int
is_for_http1(enum http_field_id id)
{
	return id == HTTP_F_CONNECTION || id == HTTP_F_TRANSFER_ENCODING || id == HTTP_F_UPGRADE ||
		id == HTTP_F_KEEP_ALIVE || id == HTTP_F_PROXY_CONNECTION;
}

static void
put(struct sbuf *b, struct str name, struct str value)
{
	for (size_t i = 0; i < name.len; i++)
		sbuf_addc(b, str_lower(name.p[i]));
	sbuf_addc(b, '=');
	sbuf_add(b, value.p, value.len);
	sbuf_addc(b, '|');
}

static void
put_pseudo(struct sbuf *b, const struct http_head *h, int host)
{
	struct http_uri uri;

	if (h->kind == HTTP_RESPONSE)
		sbuf_addf(b, ":status=%u|", h->status);
	if (h->kind != HTTP_REQUEST)
		return;
	http_uri_split(h->target, &uri);
	put(b, STR(":method"), h->method_text);
	if (h->method != HTTP_CONNECT) {
		put(b, STR(":scheme"), uri.scheme.p ? uri.scheme : STR("https"));
		put(b, STR(":path"), uri.pathq.p ? uri.pathq : h->target);
	}
	if (host >= 0)
		put(b, STR(":authority"), h->field[host].value);
}

/* "name=value|", and "END|" for END_STREAM. */
static const char *
as_http2(const struct http_head *h)
{
	static char text[4096];
	int host = h->kind == HTTP_REQUEST ? http_find_id(h, HTTP_F_HOST, 0) : -1;
	struct sbuf b;

	sbuf_init_fixed(&b, text, sizeof(text));
	put_pseudo(&b, h, host);
	for (unsigned int i = 0; i < h->n; i++) {
		const struct http_field *f = &h->field[i];

		if (!f->dropped && (int)i != host && !is_for_http1((enum http_field_id)f->id))
			put(&b, f->name, f->value);
	}
	if (h->kind == HTTP_TRAILERS || h->framing == HTTP_BODY_NONE ||
		(h->framing == HTTP_BODY_LENGTH && !h->length))
		sbuf_adds(&b, "END|");
	assert_false(b.failed);
	return text;
}

/* --- output of HTTP/1 --- */

/* Parses it again. The framing is the same, except that no body may become an empty one. */
static void
assert_read_back(const struct http_head *h, const char *wire, size_t n)
{
	struct http_field field[RIG_FIELDS];
	struct h1_parser p = { 0 };
	struct http_head again;
	size_t used;

	http_head_init(&again, h->kind, field, RIG_FIELDS);
	again.method = h->method;
	assert_int_equal(h->kind == HTTP_REQUEST
				 ? h1_parse_request(&p, wire, n, &again, &used)
				 : h1_parse_response(&p, wire, n, &again, &used),
		HTTP_COMPLETE);
	assert_int_equal(used, n);
	if (again.framing == HTTP_BODY_LENGTH && !again.length)
		again.framing = h->length ? HTTP_BODY_LENGTH : h->framing;
	assert_int_equal(again.framing, h->framing);
	assert_true(again.length == h->length);
}

/* Lines that end in "|". */
static const char *
as_http1(struct http_head *h, enum http_version receiver)
{
	static char wire[4096];
	size_t n;

	if (h->kind == HTTP_TRAILERS)
		return action_rig_show(&r, h);
	assert_int_equal(h1_framing_to_fields(h, receiver), 0);
	n = h1_write(h, wire);
	if (h->framing != HTTP_BODY_TUNNEL)
		assert_read_back(h, wire, n);
	return action_rig_show(&r, h);
}

/* --- rules --- */

struct row {
	struct block block;
	const char *rules;
	const char *http2, *http1; /* the results */
};

#define HTTPS { ":scheme", "https" }, { ":authority", "h.org" }
#define ASK(m, p) { ":method", m }, { ":path", p }, HTTPS

static const struct row requests[] = {
	{ { { ASK("GET", "/") }, 1 }, "",
		":method=GET|:scheme=https|:path=/|:authority=h.org|END|",
		"GET / HTTP/1.1|host: h.org|" },
	{ { { ASK("GET", "/a?b=c"), { "x-a", "1" }, { "x-b", "2, 3" }, { "x-c", "4" } }, 1 },
		"http-request set-header X-A %[rq(x-b)]\n"
		"http-request add-header X-D new\n"
		"http-request del-header x-c\n"
		"http-request replace-value X-B ^3$ three\n"
		"http-request set-path /p\n"
		"http-request set-query q=%[rq(x-d)]\n",
		":method=GET|:scheme=https|:path=/p?q=new|:authority=h.org|x-a=2, 3|x-b=2, three|"
		"x-d=new|END|",
		"GET /p?q=new HTTP/1.1|host: h.org|X-A: 2, 3|x-b: 2, three|X-D: new|" },
	{ { { ASK("GET", "/a/b") }, 1 },
		"http-request set-header Host o.org\nhttp-request replace-path ^/a(.*) \\1\n"
		"http-request set-method DELETE\n",
		":method=DELETE|:scheme=https|:path=/b|:authority=o.org|END|",
		"DELETE /b HTTP/1.1|Host: o.org|" },
	{ { { ASK("GET", "/a") }, 1 }, "http-request set-uri http://o.org/x?y\n",
		":method=GET|:scheme=http|:path=/x?y|:authority=o.org|END|",
		"GET http://o.org/x?y HTTP/1.1|host: o.org|" },
	{ { { ASK("POST", "/"), { "content-length", "5" } }, 0 },
		"http-request del-header cont -m beg\nhttp-request set-header X y\n",
		":method=POST|:scheme=https|:path=/|:authority=h.org|content-length=5|x=y|",
		"POST / HTTP/1.1|host: h.org|content-length: 5|X: y|" },
	/* A body of unknown length is sent in chunks. */
	{ { { ASK("POST", "/"), { "trailer", "x-sum" } }, 0 }, "http-request set-header X y\n",
		":method=POST|:scheme=https|:path=/|:authority=h.org|trailer=x-sum|x=y|",
		"POST / HTTP/1.1|host: h.org|trailer: x-sum|X: y|Transfer-Encoding: chunked|" },
	{ { { ASK("OPTIONS", "*") }, 1 }, "",
		":method=OPTIONS|:scheme=https|:path=*|:authority=h.org|END|",
		"OPTIONS * HTTP/1.1|host: h.org|" },
	{ { { { ":method", "CONNECT" }, { ":authority", "h.org:80" } }, 0 },
		"http-request set-header X y\n", ":method=CONNECT|:authority=h.org:80|x=y|",
		"CONNECT h.org:80 HTTP/1.1|host: h.org:80|X: y|" },
};

static const struct row responses[] = {
	{ { { { ":status", "200" }, { "content-length", "7" } }, 0 },
		"http-response set-header A b\nhttp-response del-header none\n",
		":status=200|content-length=7|a=b|", "HTTP/1.1 200 |content-length: 7|A: b|" },
	{ { { { ":status", "200" }, { "etag", "x" } }, 0 },
		"http-response set-status 404\nhttp-response replace-header Etag x y\n",
		":status=404|etag=y|",
		"HTTP/1.1 404 Not Found|etag: y|Transfer-Encoding: chunked|" },
	/* An empty stream. */
	{ { { { ":status", "200" } }, 1 }, "http-response set-header A b\n",
		":status=200|a=b|END|", "HTTP/1.1 200 |A: b|Content-Length: 0|" },
	/* set-status replaces no body with an empty one. */
	{ { { { ":status", "204" } }, 1 }, "http-response set-status 503\n",
		":status=503|content-length=0|END|",
		"HTTP/1.1 503 Service Unavailable|Content-Length: 0|" },
	{ { { { ":status", "304" }, { "content-length", "70" } }, 1 }, "",
		":status=304|content-length=70|END|", "HTTP/1.1 304 |content-length: 70|" },
};

static void
run(enum rule_place place, struct http_head *h, const struct row *row)
{
	const char *text;

	action_rig_good(&r, row->rules);
	arena_release(&r.x.arena, 0);
	memset(&r.v, 0, sizeof(r.v));
	r.v.head = &r.answer;
	assert_int_equal(action_rig_run(&r, place), RULE_CONT);
	text = as_http2(h);
	if (strcmp(text, row->http2) != 0)
		fail_msg("%s\n%s\n=> %s", row->rules, row->http2, text);
	text = as_http1(h, HTTP_1_1);
	if (strcmp(text, row->http1) != 0)
		fail_msg("%s\n%s\n=> %s", row->rules, row->http1, text);
}

static void
test_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		const struct row *row = &requests[i];

		assert_int_equal(fill(&r.req, HTTP_REQUEST, r.fields[0], &row->block),
			HTTP_BAD_NONE);
		r.x.cx.req = &r.req;
		run(RULE_HTTP_REQUEST, &r.req, row);
	}
}

static void
test_responses(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
		const struct row *row = &responses[i];

		assert_int_equal(fill(&r.res, HTTP_RESPONSE, r.fields[1], &row->block),
			HTTP_BAD_NONE);
		r.x.cx.res = &r.res;
		run(RULE_HTTP_RESPONSE, &r.res, row);
	}
}

/* A body of unknown length ends with the connection for a receiver of HTTP/1.0. */
static void
test_old_receiver(void **state)
{
	static const struct block b = { { { ":status", "200" }, { "trailer", "x" } }, 0 };

	(void)state;
	assert_int_equal(fill(&r.res, HTTP_RESPONSE, r.fields[1], &b), HTTP_BAD_NONE);
	assert_string_equal(as_http1(&r.res, HTTP_1_0), "HTTP/1.1 200 |");
	assert_int_equal(r.res.framing, HTTP_BODY_CLOSE);
}

/* Responses made by rules have a length. */
static void
test_answers(void **state)
{
	static const struct {
		const char *rule, *http2, *http1;
	} rows[] = {
		{ "http-request return status 200 content-type a/b string hello",
			":status=200|content-length=5|content-type=a/b|",
			"HTTP/1.1 200 OK|Content-Length: 5|Content-Type: a/b|" },
		{ "http-request return status 204", ":status=204|END|",
			"HTTP/1.1 204 No Content|" },
		{ "http-request redirect location /x",
			":status=302|content-length=0|location=/x|cache-control=no-cache|END|",
			"HTTP/1.1 302 Found|Content-Length: 0|Location: /x|"
			"Cache-Control: no-cache|" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(fill(&r.req, HTTP_REQUEST, r.fields[0], &requests[0].block),
			HTTP_BAD_NONE);
		r.x.cx.req = &r.req;
		action_rig_good(&r, rows[i].rule);
		http_head_init(&r.answer, HTTP_RESPONSE, r.fields[2], RULE_ANSWER_FIELDS_MAX);
		memset(&r.v, 0, sizeof(r.v));
		r.v.head = &r.answer;
		assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
		assert_string_equal(as_http2(&r.answer), rows[i].http2);
		assert_string_equal(as_http1(&r.answer, HTTP_1_1), rows[i].http1);
	}
}

/* A built-in error page. */
static void
test_page(void **state)
{
	struct http_field field[8];
	struct http_head h;
	char expected[256];

	(void)state;
	http_head_init(&h, HTTP_RESPONSE, field, ARRAY_LEN(field));
	assert_int_equal(http_reply_head(http_error(HTTP_ERROR_503), HTTP_CONN_CLOSE, &h), 0);
	(void)snprintf(expected, sizeof(expected),
		":status=503|content-length=%zu|cache-control=no-cache|content-type=text/html|",
		http_error(HTTP_ERROR_503)->body.len);
	assert_string_equal(as_http2(&h), expected);
}

static void
test_trailers(void **state)
{
	static const struct block good = { { { "x-sum", "12" }, { "server-timing", "a;b" } }, 1 };
	static const struct block bad[] = {
		{ { { "x", "y" }, { "content-length", "5" } }, 1 },
		{ { { "Host", "o.org" } }, 1 },
	};
	struct http_head t;

	(void)state;
	assert_int_equal(fill(&t, HTTP_TRAILERS, r.fields[2], &good), HTTP_BAD_NONE);
	assert_string_equal(as_http2(&t), "x-sum=12|server-timing=a;b|END|");
	assert_string_equal(as_http1(&t, HTTP_1_1), "x-sum: 12|server-timing: a;b|");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(fill(&t, HTTP_TRAILERS, r.fields[2], &bad[i]), HTTP_BAD_TRAILER);
}

/* Heads from HTTP/2 are validated like heads from HTTP/1. */
static void
test_invalid(void **state)
{
	static const struct {
		struct block block;
		enum http_bad bad;
	} rows[] = {
		{ { { ASK("POST", "/"), { "content-length", "5" }, { "content-length", "5" } }, 0 },
			HTTP_BAD_CONTENT_LENGTH },
		{ { { ASK("POST", "/"), { "content-length", "+5" } }, 0 },
			HTTP_BAD_CONTENT_LENGTH },
		{ { { ASK("GET", "/"), { "host", "o.org" } }, 1 }, HTTP_BAD_HOST },
		{ { { { ":method", "GET" }, { ":path", "/" } }, 1 }, HTTP_BAD_HOST },
		{ { { ASK("GET", "/"), { "a", "b\r\nc: d" } }, 1 }, HTTP_BAD_FIELD_VALUE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(fill(&r.req, HTTP_REQUEST, r.fields[0], &rows[i].block),
			rows[i].bad);
}

/* Heads parsed from HTTP/1 are written as HTTP/2. */
static void
test_from_http1(void **state)
{
	(void)state;
	action_rig_heads(&r, "POST /a?b HTTP/1.1\r\nHost: h.org\r\nA: b\r\n"
			     "Transfer-Encoding: chunked\r\nConnection: keep-alive",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nKeep-Alive: timeout=5");
	assert_string_equal(as_http2(&r.req),
		":method=POST|:scheme=https|:path=/a?b|:authority=h.org|a=b|");
	assert_string_equal(as_http2(&r.res), ":status=200|content-length=3|");
	action_rig_heads(&r, "GET http://h.org/ HTTP/1.1\r\nHost: h.org",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 3");
	assert_string_equal(as_http2(&r.req),
		":method=GET|:scheme=http|:path=/|:authority=h.org|END|");
	assert_string_equal(as_http2(&r.res), ":status=304|content-length=3|END|");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_requests),
		ACTION_CASE(test_responses),
		ACTION_CASE(test_old_receiver),
		ACTION_CASE(test_answers),
		ACTION_CASE(test_page),
		ACTION_CASE(test_trailers),
		ACTION_CASE(test_invalid),
		ACTION_CASE(test_from_http1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
