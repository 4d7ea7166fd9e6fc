#include "proxy/http1/request.h"

#include <string.h>

#include "proxy/session/actions.h"
#include "proxy/model/count.h"
#include "proxy/relay/direction.h"
#include "proxy/http1/http_out.h"
#include "proxy/http1/informational.h"
#include "base/counter.h"
#include "net/silent_drop.h"
#include "proxy/sample/capture.h"
#include "proxy/session/route.h"
#include "proxy/http1/rule_outcome.h"

/* In this order, of the frontend and then of another backend (manual 4.2). */
enum stage {
	STAGE_FE_CONTENT,
	STAGE_FE_BODY,
	STAGE_FE_RULES,
	STAGE_FE_REDIRECT,
	STAGE_ROUTE,
	STAGE_BE_CONTENT,
	STAGE_BE_BODY,
	STAGE_BE_RULES,
	STAGE_BE_REDIRECT,
	STAGE_END
};

void
request_refuse(struct session *s, unsigned int status)
{
	counter_add(&fe_stat(s)->failed_req, 1);
	session_blame(s, 'P', 'R');
	s->txn->status = status;
	session_event(s, SESSION_EV_ANSWER);
}

/* --- the body --- */

static int
body_may_grow(const struct session *s)
{
	const struct direction *h = &s->dir[CLIENT];

	return h->state == DIRECTION_OPEN && h->tail + h->lookahead < s->engine->bufsize;
}

/* A client that waits to be told to go on is told so by us: nobody else knows of it yet (RFC 9110,
 * 10.1.1). */
static void
ask_for_body(struct session *s)
{
	struct http_txn *t = s->txn;

	if (t->version == HTTP_1_0 || !http_lists(&t->req, HTTP_F_EXPECT, STR("100-continue")))
		return;
	(void)http_drop_all(&t->req, str_of(http_field_name(HTTP_F_EXPECT)));
	if (informational_send(s, STR("HTTP/1.1 100 Continue\r\n\r\n")) == 0)
		return;
	session_blame(s, 'R', 'R');
	conn_reset_on_close(&s->conn[CLIENT]);
	session_event(s, SESSION_EV_CLOSE);
}

/* Is the body to be here before the request goes anywhere (manual, option http-buffer-request, and
 * balance url_param)? */
static int
wants_body(const struct session *s, const struct proxy *px)
{
	if (px->options & OPT_HTTP_BUFFER_REQUEST)
		return 1;
	return px == s->txn->be && balance_wants_body(px->balance, &s->txn->req);
}

/* As much of it as the buffer holds. 1: it is here, or cannot come. The proxy that wants it says
 * how long it may take, from now on (manual, timeout http-request); else no piece may be late. */
static int
has_body(struct session *s, const struct proxy *px)
{
	struct http_txn *t = s->txn;

	if (!wants_body(s, px) || !body_may_grow(s)) {
		t->wait_until_ms = 0;
		t->head_ms = loop_now_ms(s->engine->loop);
		return 1;
	}
	if (!t->wait_until_ms && px->to.http_request)
		t->wait_until_ms = loop_now_ms(s->engine->loop) + px->to.http_request;
	ask_for_body(s);
	return 0;
}

int
request_is_taken(const struct session *s)
{
	const struct http_txn *t = s->txn;

	return t->stage == STAGE_BE_BODY && !(t->be->options & OPT_HTTP_BUFFER_REQUEST);
}

/* The data of a chunked body lie between its framing: they are copied together. */
static struct str
dechunked(struct session *s, const char *p, size_t n)
{
	struct arena *a = &s->engine->eval.arena;
	struct http_body body = { .framing = HTTP_BODY_CHUNKED };
	char *to = arena_get(a, n);
	size_t used, out = 0;

	/* What is bad of it is refused where it came from. */
	if (to)
		(void)!http_body_decode(&body, to, p, n, &used, &out);
	return (struct str){ to, out };
}

static void
look_at_body(struct session *s, struct sample_ctx *cx)
{
	const struct http_txn *t = s->txn;
	const struct direction *h = &s->dir[CLIENT];
	const char *p = h->buf + t->head_end;
	size_t n = h->tail - t->head_end;

	if (n && t->body[CLIENT].framing == HTTP_BODY_CHUNKED)
		cx->req_body = dechunked(s, p, n);
	else
		cx->req_body = (struct str){ p, n };
	cx->req_body_whole = http_body_is_over(&t->body[CLIENT]);
	cx->req_body_full = !body_may_grow(s);
	cx->req_len = t->parser[CLIENT].at + n;
}

/* --- rules --- */

static int
is_silent(enum rule_end what)
{
	return what == RULE_END_REJECT || what == RULE_END_DROP;
}

static enum session_event
follows(enum rule_end what)
{
	if (is_silent(what))
		return SESSION_EV_CLOSE;
	return what == RULE_END_TARPIT ? SESSION_EV_TARPIT : SESSION_EV_ANSWER;
}

/*
 * What logs tell of a request that a rule has ended, as HAProxy does it: who is only sent elsewhere
 * or gets no answer is no session that anybody follows; who gets none at once was never taken for a
 * whole request, and for none at all where contents were looked at before HTTP was.
 */
static void
note_end(struct session *s, enum rule_end what)
{
	struct http_txn *t = s->txn;

	if (what != RULE_END_REPLY && !is_silent(what))
		capture_cookie(s, &t->req);
	t->no_timers = is_silent(what) || what == RULE_END_TARPIT;
	if (is_silent(what) && t->stage == STAGE_FE_CONTENT) {
		t->line_len = 0;
		capture_drop_fields(s, CAPTURE_REQUEST);
	}
}

/* What a rule has ended. The request is not to be looked at any more: texts of rules before that
 * are in the arena. */
static void
carry_out(struct session *s, const struct rule_outcome *v)
{
	note_end(s, v->what);
	rule_outcome_blame(s, v, v->what == RULE_END_TARPIT ? 'T' : 'R');
	if (v->what != RULE_END_REPLY && v->what != RULE_END_ERROR)
		rule_outcome_count_denied(s, CLIENT);
	else if (v->what == RULE_END_REPLY && !s->txn->be)
		counter_add(&fe_stat(s)->intercepted, 1);
	if (v->what == RULE_END_DROP)
		silent_drop_on_close(s->engine->sys, s->conn[CLIENT].fd);
	else if (v->what != RULE_END_REJECT)
		rule_outcome_reply(s, v);
	s->txn->placed = 1;
	session_event(s, follows(v->what));
}

/* It waits where it is until more has come, or it is late. */
static void
wait_for_body(struct session *s, unsigned int ms)
{
	struct http_txn *t = s->txn;

	if (!t->wait_until_ms)
		t->wait_until_ms = loop_now_ms(s->engine->loop) + ms;
	ask_for_body(s);
}

static void
run_list(struct session *s, const struct proxy *px, unsigned int list, struct eval *look,
	struct rule_outcome *v)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	enum rule_result result;

	look_at_body(s, &look->cx);
	v->head = rule_outcome_head(s);
	result = rule_outcome_run(s, px, list, &s->txn->at, look, v);
	if (result == RULE_FINAL)
		carry_out(s, v);
	else if (arena_mark(a) > mark && http_settle_request(s) < 0)
		request_refuse(s, 500);
	else if (result == RULE_YIELD)
		wait_for_body(s, v->wait_ms);
	arena_release(a, mark);
}

/* 1: to the next stage. */
static int
passes(struct session *s, const struct proxy *px, unsigned int list)
{
	struct http_txn *t = s->txn;
	unsigned int at = rule_place_scope(RULE_HTTP_REQUEST);
	struct rule_outcome v = { 0 };
	struct eval look;

	if (!proxy_has_rules(&px->rules, list))
		return 1;
	eval_init(&look, s, t->be ? at | SAMPLE_AT_BACK : at);
	look.cx.req_ended = 1;
	run_list(s, px, list, &look, &v);
	if (s->state != SESSION_READ || t->at.next)
		return 0;
	t->at = (struct rules_at){ NULL, 0 };
	t->wait_until_ms = 0;
	return 1;
}

/* --- all of it --- */

static void
leave(struct session *s)
{
	struct http_txn *t = s->txn;

	/* Rules may have changed it. */
	t->method = t->req.method;
	t->upgrades = (uint8_t)http_strip_hop(&t->req);
	session_event(s, SESSION_EV_REQUEST);
}

/* 1: to the next stage. */
static int
step(struct session *s)
{
	struct http_txn *t = s->txn;
	struct proxy *be = t->be == s->fe ? NULL : t->be;

	switch ((enum stage)t->stage) {
	case STAGE_FE_CONTENT:
		return passes(s, s->fe, RULE_TCP_REQ_CONTENT);
	case STAGE_FE_BODY:
		return has_body(s, s->fe);
	case STAGE_FE_RULES:
		return passes(s, s->fe, RULE_HTTP_REQUEST);
	case STAGE_FE_REDIRECT:
		return passes(s, s->fe, RULES_REDIRECT);
	case STAGE_ROUTE:
		t->be = route_backend(s);
		return 1;
	case STAGE_BE_CONTENT:
		return !be || passes(s, be, RULE_TCP_REQ_CONTENT);
	case STAGE_BE_BODY:
		return !t->be || has_body(s, t->be);
	case STAGE_BE_RULES:
		return !be || passes(s, be, RULE_HTTP_REQUEST);
	case STAGE_BE_REDIRECT:
		return !be || passes(s, be, RULES_REDIRECT);
	case STAGE_END:
		leave(s);
		break;
	}
	return 0;
}

void
request_go_on(struct session *s)
{
	while (step(s))
		s->txn->stage++;
}
