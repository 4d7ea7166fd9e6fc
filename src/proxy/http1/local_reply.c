/* Makes local replies. On the session's worker; until http_reply.c sends one it is lookahead of the
 * direction to the client, as a response of a server would be. */
#include "proxy/http1/local_reply.h"

#include <string.h>

#include "base/err.h"
#include "http/h1_framing.h"
#include "http/h1_write.h"
#include "http/hop.h"
#include "http/reply.h"
#include "proxy/http1/cache_reply.h"
#include "proxy/http1/case_adjust.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/filtered.h"
#include "proxy/relay/direction.h"
#include "proxy/model/errors.h"
#include "proxy/model/memory.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/sample/eval.h"

/* The Connection field of the reply: none if the version implies it. */
static enum http_conn
connection_of_reply(const struct http_txn *t)
{
	if (!http_keeps(t, CLIENT))
		return HTTP_CONN_CLOSE;
	return t->version == HTTP_1_0 ? HTTP_CONN_KEEP_ALIVE : HTTP_CONN_UNSAID;
}

/* If the request is incomplete, nothing after it can be parsed. */
static void
check_request_end(struct stream *s)
{
	if (s->txn->head_ms && !exchange_has_request(s->txn))
		http_close_after(s->txn, CLIENT);
}

/* A buffer for the reply. If none is available the request's is used, which is no longer needed. */
static int
take_buf(struct stream *s)
{
	struct direction *d = &s->dir[SERVER], *req = &s->dir[CLIENT];

	if (d->buf || memory_reserve_buffer(s->engine))
		return direction_buf_get(s->engine, d);
	if (!req->buf || req->lookahead || req->is_big || req->is_wide || req->pin)
		return -1;
	d->buf = req->buf;
	req->buf = NULL;
	req->head = req->tail = req->keeps_buf = 0;
	return 0;
}

/*
 * The unsent rest of an informational response goes first: a truncated one would corrupt what
 * follows. Returns its length.
 */
static uint32_t
keep_informational(struct direction *d)
{
	uint32_t n = direction_buffered(d);

	if (n)
		memmove(d->buf, d->buf + d->head, n);
	d->head = d->lookahead = 0;
	d->tail = n;
	return n;
}

/* Makes n bytes of the buffer the reply; they lie behind those that wait to be sent. What the
 * server has sent of a response is dropped. */
static void
hold_reply(struct stream *s, size_t n)
{
	struct direction *d = &s->dir[SERVER];

	d->bytes = n;
	d->counted = 0;
	d->lookahead = (uint32_t)n;
	/* The server's bytes wait for nothing any more, or the timer would be due at once. */
	d->keeps_buf = d->waits_for_buffer = d->waits_to_pass = 0;
	s->txn->reply = HTTP_REPLY_MADE;
}

static int
has_after_rules(const struct stream *s, const struct proxy *p)
{
	return p && s->txn->after_fails < HTTP_AFTER_FAILS_MAX &&
		proxy_has_rules(&p->rules, RULE_HTTP_AFTER_RESPONSE);
}

/* Runs the rules http-after-response of a proxy. most: bytes that the texts of the head may
 * have. 0, or -1: a rewrite failed. */
static int
run_after(struct stream *s, const struct proxy *p, struct eval *eval, size_t most)
{
	struct rules_at at = { 0 };
	struct rule_outcome v;

	if (!has_after_rules(s, p))
		return 0;
	v.head = NULL;
	v.most = most;
	if (rule_outcome_run(s, p, RULE_HTTP_AFTER_RESPONSE, &at, eval, &v) != RULE_FINAL)
		return 0;
	s->txn->after_fails++;
	return -1;
}

/* The backend's rules come first (manual, http-after-response). room: bytes for the head. */
static int
run_after_rules(struct stream *s, struct http_head *head, struct str body, size_t room)
{
	struct proxy *be = stream_backend(s);
	size_t most = room > H1_EXTRA_MAX ? room - H1_EXTRA_MAX : 1;
	struct eval eval;

	/* Without a request head the rules are not evaluated, as in HAProxy. */
	if (!s->txn->head_ms || (!has_after_rules(s, s->sess->fe) && !has_after_rules(s, be)))
		return 0;
	eval_init(&eval, s, rule_place_scope(RULE_HTTP_AFTER_RESPONSE));
	eval.cx.req = NULL;
	eval.cx.res = head;
	eval.cx.res_body = (struct sample_body){ .content = body, .is_whole = 1 };
	eval.cx.req_ended = 1;
	if (be != s->sess->fe && run_after(s, be, &eval, most) < 0)
		return -1;
	return run_after(s, s->sess->fe, &eval, most);
}

static int
add_connection_of_reply(struct http_head *h, enum http_conn conn)
{
	if (conn == HTTP_CONN_UNSAID)
		return 0;
	return http_add_id(h, HTTP_F_CONNECTION,
		conn == HTTP_CONN_CLOSE ? STR("close") : STR("keep-alive"));
}

/* Copied through the scratch buffer: texts may lie in the buffer itself. */
int
local_reply_make(struct stream *s, struct http_head *head, struct str body)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[SERVER];
	size_t n, room = e->bufsize - direction_buffered(d);
	int r = 0;

	check_request_end(s);
	http_end_req_vars(s->txn);
	if (s->txn->asked == HTTP_HEAD) {
		head->framing = HTTP_BODY_NONE;
		body = (struct str){ NULL, 0 };
	}
	if (run_after_rules(s, head, body, room - MIN(body.len, room)) < 0)
		r = -ERR_INVAL;
	else if (http_strip_hop(head, 0) & HTTP_HOP_CLOSE)
		http_close_after(s->txn, CLIENT);
	h1_obey_status(head);
	if (http_status_has_no_body(head->status))
		body = (struct str){ NULL, 0 };
	if (r == 0 && cache_reply_follows(s))
		r = filtered_begin_stored(s, head);
	if (r == 0)
		r = add_connection_of_reply(head, connection_of_reply(s->txn));
	if (r < 0)
		return r;
	n = h1_size(head);
	if (n > room || body.len > room - n)
		return -ERR_RANGE;
	(void)h1_write(head, e->scratch);
	case_adjust_to_client(s, e->scratch, n);
	if (body.len)
		memcpy(e->scratch + n, body.p, body.len);
	if (take_buf(s) < 0)
		return -ERR_NOMEM;
	memcpy(d->buf + keep_informational(d), e->scratch, n + body.len);
	hold_reply(s, n + body.len);
	s->txn->status = head->status;
	return 0;
}

/* Rules apply to its head. name.p NULL: no field is added. */
static int
make_changed(struct stream *s, const struct http_reply *r, struct str name, struct str value)
{
	size_t mark = arena_mark(&s->engine->eval.arena);
	struct http_head *head = rule_outcome_head(s);
	int rc = http_reply_head(r, HTTP_CONN_UNSAID, head);

	if (rc == 0 && name.p) {
		(void)http_drop_all(head, name);
		rc = http_add(head, name, value);
	}
	if (rc == 0)
		rc = local_reply_make(s, head, http_reply_body(r, s->txn->asked));
	arena_release(&s->engine->eval.arena, mark);
	return rc;
}

/* Makes a reply with formats. 0, or a negative reason: nothing was written. */
static int
make_formatted(struct stream *s, const struct error_page *p, struct str name, struct str value)
{
	size_t mark = arena_mark(&s->engine->eval.arena);
	struct http_head *head = rule_outcome_head(s);
	struct eval eval;
	struct str body;
	int rc;

	eval_init(&eval, s, ERROR_PAGE_SCOPE);
	eval.cx.req_ended = 1;
	rc = error_page_make(p, &eval.cx, head, &body);
	if (rc == 0 && name.p) {
		(void)http_drop_all(head, name);
		rc = http_add(head, name, value) < 0 ? -1 : 0;
	}
	if (rc == 0)
		rc = local_reply_make(s, head, body);
	arena_release(&s->engine->eval.arena, mark);
	return rc;
}

int
local_reply_has_formats(const struct stream *s)
{
	return proxy_error_page(s->sess->fe, stream_backend(s), s->txn->status) != NULL;
}

int
local_reply_make_page_with(struct stream *s, struct str name, struct str value)
{
	const struct error_page *p =
		proxy_error_page(s->sess->fe, stream_backend(s), s->txn->status);
	const struct http_reply *r;

	if (p)
		return make_formatted(s, p, name, value);
	r = proxy_error(s->sess->fe, stream_backend(s), s->txn->status);

	return r->status ? make_changed(s, r, name, value) : 0;
}

/* Makes its parts: 0, negative: that failed; 1: there are none, it is sent as it is. */
static int
make_parts(struct stream *s, const struct error_page *p)
{
	const struct str none = { NULL, 0 };
	struct proxy *be = stream_backend(s);
	const struct http_reply *r = proxy_error(s->sess->fe, be, s->txn->status);

	if (p)
		return make_formatted(s, p, none, none);
	if (!r->status || (!has_after_rules(s, s->sess->fe) && !has_after_rules(s, be)))
		return 1;
	return make_changed(s, r, none, none);
}

void
local_reply_failed(struct stream *s)
{
	s->txn->status = 500;
	if (s->term[0] != '-')
		s->term[0] = 'P';
}

int
local_reply_make_page(struct stream *s)
{
	struct proxy *be = stream_backend(s);
	const struct error_page *p = proxy_error_page(s->sess->fe, be, s->txn->status);
	const struct http_reply *r;
	uint32_t before;
	int made = -1;
	long n;

	/* A backend without an answer: the request's rules are over. */
	if (s->be)
		http_end_req_vars(s->txn);
	/* The page for error 500 may have formats too, which are not tried. */
	for (int i = 0; i < HTTP_AFTER_FAILS_MAX && made < 0; i++, p = NULL) {
		made = make_parts(s, p);
		if (made < 0)
			local_reply_failed(s);
	}
	if (made == 0)
		return 0;
	r = proxy_error(s->sess->fe, be, s->txn->status);
	check_request_end(s);
	if (take_buf(s) < 0)
		return -ERR_NOMEM;
	before = keep_informational(&s->dir[SERVER]);
	n = http_reply_write(r, connection_of_reply(s->txn), s->txn->asked,
		s->dir[SERVER].buf + before, s->engine->bufsize - before);
	if (n > 0) {
		case_adjust_to_client(s, s->dir[SERVER].buf + before, (size_t)n);
		hold_reply(s, (size_t)n);
	}
	return n < 0 ? (int)n : 0;
}
