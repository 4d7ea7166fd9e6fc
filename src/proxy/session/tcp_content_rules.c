#include "proxy/session/tcp_content_rules.h"

#include <string.h>

#include "proxy/session/actions.h"
#include "proxy/model/count.h"
#include "proxy/session/derive.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "base/counter.h"
#include "net/silent_drop.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"
#include "proxy/log/session_log.h"

static uint64_t
after(uint64_t start, unsigned int ms)
{
	return ms ? start + ms : TIMER_NEVER;
}

static struct str
pending(const struct direction *h)
{
	return (struct str){ h->buf ? h->buf + h->head : "", direction_buffered(h) };
}

/* --- rules --- */

int
tcp_content_rules_of_frontend(const struct proxy *fe)
{
	return proxy_has_rules(&fe->rules, RULE_TCP_REQ_CONTENT) || fe->route_looks;
}

int
tcp_content_rules_of_backend(const struct session *s)
{
	return s->be != s->fe && proxy_has_rules(&s->be->rules, RULE_TCP_REQ_CONTENT);
}

/* Whose rules are at work in INSPECT. */
static const struct proxy *
inspector(const struct session *s)
{
	return s->be ? s->be : s->fe;
}

/* All rules run again with each arrival, with the bytes that there are (manual). */
static enum rule_result
run(struct session *s, const struct proxy *px, enum rule_place place, struct eval *look,
	struct rule_outcome *v)
{
	struct rules_at at = { 0 };
	size_t mark = arena_mark(look->cx.arena);
	enum rule_result r;

	*v = (struct rule_outcome){ .proxy = s };
	r = proxy_rules_run(&px->rules, place, &at, &look->cx, v);
	arena_release(look->cx.arena, mark);
	if (v->log_level)
		s->log_level = (int8_t)v->log_level;
	return r;
}

static void
count_denied_request(struct session *s, enum rule_end what)
{
	counter_add(&fe_stat(s)->denied_req, 1);
	/* As in HAProxy: of a rejected one the backend does not hear. */
	if (what == RULE_END_DROP && s->be)
		counter_add(&be_stat(s)->denied_req, 1);
}

/* What ends it is counted, and silent-drop prepared: the close of the client says nothing then. */
static void
refuse_request(struct session *s, enum rule_end what)
{
	count_denied_request(s, what);
	session_blame(s, 'P', 'R');
	if (what == RULE_END_DROP)
		silent_drop_on_close(s->engine->sys, s->conn[CLIENT].fd);
}

static void
refuse_response(struct session *s, enum rule_end what)
{
	if (what == RULE_END_DROP) {
		refuse_request(s, what);
		return;
	}
	counter_add(&fe_stat(s)->denied_resp, 1);
	counter_add(&be_stat(s)->denied_resp, 1);
	counter_add(&srv_stat(s)->denied_resp, 1);
	session_blame(s, 'P', 'D');
}

/* --- a client in mode tcp --- */

/*
 * Rules of mode tcp may ask what an HTTP request says (manual): whatever has come is judged for it.
 * Its fields stand in a transaction that is none; without memory for one there is no request.
 */
static void
look_for_request(struct eval *look, struct session *s)
{
	struct engine *e = s->engine;
	struct http_parser parser = { 0 };
	struct str b = look->cx.req_bytes;
	struct http_txn *t;
	size_t used;

	if (!b.len || !memory_has(e, &e->txn_pool))
		return;
	t = pool_get(&e->txn_pool);
	if (!t)
		return;
	http_head_init(&t->req, HTTP_REQUEST, t->field, e->maxhdr);
	switch (http_parse_request(&parser, b.p, b.len, &t->req, &used)) {
	case HTTP_COMPLETE:
		look->cx.req = &t->req;
		look->borrowed = t;
		return;
	case HTTP_BAD:
		look->cx.req_not_http = 1;
		break;
	case HTTP_MORE:
		break;
	}
	pool_put(&e->txn_pool, t);
}

void
tcp_content_eval_init(struct eval *look, struct session *s, unsigned int at)
{
	eval_init(look, s, at);
	look->cx.req_bytes = pending(&s->dir[CLIENT]);
	look->cx.req_ended = 1;
	if (look->cx.req_bytes.len)
		look_for_request(look, s);
}

void
tcp_content_eval_done(struct eval *look, struct session *s)
{
	if (look->borrowed)
		pool_put(&s->engine->txn_pool, look->borrowed);
	look->borrowed = NULL;
}

static uint64_t
delay_end(const struct session *s)
{
	return after(s->state_ms, inspector(s)->rules.inspect_ms);
}

/* Nothing more comes: the client has ended, or there is no room, or no time. */
static int
is_final(const struct session *s)
{
	const struct direction *h = &s->dir[CLIENT];

	return h->state != DIRECTION_OPEN || !direction_has_room(s->engine, h) ||
		!inspector(s)->rules.inspect_ms || delay_end(s) <= loop_now_ms(s->engine->loop);
}

static enum rule_result
judge_client(struct session *s, struct rule_outcome *v)
{
	unsigned int at = rule_place_scope(RULE_TCP_REQ_CONTENT) | (s->be ? SAMPLE_AT_BACK : 0);
	struct eval look;
	enum rule_result r;

	tcp_content_eval_init(&look, s, at);
	look.cx.req_ended = is_final(s);
	r = run(s, inspector(s), RULE_TCP_REQ_CONTENT, &look, v);
	tcp_content_eval_done(&look, s);
	return r;
}

/* What the rules say of what is there: PASSED, DENIED, or NONE when they wait. */
static enum session_event
decide(struct session *s)
{
	struct rule_outcome v;

	/* A buffer that it waited for is wanted no more, or again. */
	s->dir[CLIENT].waits_for_buffer = 0;
	switch (judge_client(s, &v)) {
	case RULE_YIELD:
		return is_final(s) ? SESSION_EV_PASSED : SESSION_EV_NONE;
	case RULE_FINAL:
		refuse_request(s, v.what);
		return SESSION_EV_DENIED;
	case RULE_CONT:
	case RULE_STOP:
		break;
	}
	return SESSION_EV_PASSED;
}

void
tcp_content_read(struct session *s)
{
	struct direction *h = &s->dir[CLIENT];
	enum session_event ev;

	if (!h->buf && h->state == DIRECTION_OPEN && !memory_has_buffer(s->engine)) {
		exchange_wait_for_buffer(s, CLIENT);
		return;
	}
	direction_collect(s);
	ev = s->conn[CLIENT].err ? SESSION_EV_CLIENT_GONE : decide(s);
	if (ev == SESSION_EV_NONE)
		return;
	session_event(s, ev);
	session_log_early(s);
}

void
tcp_content_io(struct session *s, uint32_t ev)
{
	if (ev & EV_R)
		tcp_content_read(s);
	if (s->state == SESSION_INSPECT && (ev & EV_ERR) && conn_take_error(&s->conn[CLIENT]))
		session_event(s, SESSION_EV_CLIENT_GONE);
}

uint64_t
tcp_content_deadline(const struct session *s)
{
	return MIN(delay_end(s), after(s->last_ms[CLIENT], s->fe->to.client));
}

static enum session_event
gone(struct session *s, char cause)
{
	session_blame(s, cause, 'R');
	counter_add(&fe_stat(s)->failed_req, 1);
	if (s->be)
		counter_add(&be_stat(s)->cli_abrt, 1);
	return session_do_close(s);
}

enum session_event
session_do_inspect_abort(struct session *s)
{
	return gone(s, 'C');
}

enum session_event
session_do_inspect_timeout(struct session *s)
{
	if (after(s->last_ms[CLIENT], s->fe->to.client) <= loop_now_ms(s->engine->loop)) {
		session_blame(s, 'c', 'R');
		return SESSION_EV_CLIENT_GONE;
	}
	return decide(s);
}

/* --- a server in mode tcp --- */

static int
is_response_due(const struct session *s)
{
	return tcp_content_response_deadline(s) <= loop_now_ms(s->engine->loop);
}

/* The held bytes are forwarded like any others from here on. */
static void
let_go(struct session *s)
{
	struct direction *h = &s->dir[SERVER];

	h->inspects = INSPECTS_NOT;
	h->tail += h->lookahead;
	h->lookahead = 0;
}

/* More will come, unless `ended`. */
static void
judge_server(struct session *s, int ended)
{
	struct direction *h = &s->dir[SERVER];
	struct rule_outcome v;
	struct eval look;

	eval_init(&look, s, rule_place_scope(RULE_TCP_RES_CONTENT));
	if (h->lookahead)
		look.cx.res_bytes = (struct str){ h->buf + h->tail, h->lookahead };
	look.cx.req_ended = ended;
	switch (run(s, s->be, RULE_TCP_RES_CONTENT, &look, &v)) {
	case RULE_YIELD:
		if (ended)
			let_go(s);
		return;
	case RULE_FINAL:
		refuse_response(s, v.what);
		h->inspects = INSPECTS_DENIED;
		return;
	case RULE_CONT:
	case RULE_STOP:
		let_go(s);
		return;
	}
}

void
tcp_content_begin_response(struct session *s)
{
	if (s->txn || !proxy_has_rules(&s->be->rules, RULE_TCP_RES_CONTENT))
		return;
	s->dir[SERVER].inspects = INSPECTS_HELD;
	/* Some need not see a byte. */
	judge_server(s, 0);
}

uint64_t
tcp_content_response_deadline(const struct session *s)
{
	return after(s->connected_ms, s->be->rules.inspect_response_ms);
}

/* What was held goes out; the end of the source, or its failure, follows behind it. */
static int
go_on(struct session *s)
{
	struct direction *h = &s->dir[SERVER];
	struct conn *src = &s->conn[SERVER];

	if (h->inspects != INSPECTS_NOT)
		return 0;
	if (src->err)
		session_side_failed(s, SERVER);
	else if (src->eof)
		direction_source_ended(s, SERVER);
	if (direction_flush(s, SERVER) && h->state == DIRECTION_DRAIN)
		direction_event(s, SERVER, DIRECTION_EV_EMPTY);
	return h->state == DIRECTION_OPEN && !direction_pending(h);
}

void
tcp_content_end_response(struct session *s)
{
	struct direction *h = &s->dir[SERVER];
	uint64_t last = s->last_ms[SERVER];
	int starved = h->waits_for_buffer;

	h->waits_for_buffer = 0;
	judge_server(s, 1);
	(void)go_on(s);
	/* It has said nothing: it is as late as it was. */
	s->last_ms[SERVER] = last;
	/* Unless what it said could not be kept: without rules it can go on as it is. */
	if (starved && h->inspects == INSPECTS_NOT)
		direction_pump_now(s, SERVER);
}

/* Without a delay the first bytes are all there is to see. */
static int
is_response_whole(const struct session *s)
{
	const struct direction *h = &s->dir[SERVER];

	return s->conn[SERVER].eof || !s->be->rules.inspect_response_ms || is_response_due(s) ||
		h->tail + h->lookahead == s->engine->bufsize;
}

int
tcp_content_response(struct session *s)
{
	struct engine *e = s->engine;
	struct direction *h = &s->dir[SERVER];
	struct conn *src = &s->conn[SERVER];
	size_t got, at;

	if (h->inspects == INSPECTS_DENIED)
		return 0;
	if (!h->buf && (!memory_has_buffer(e) || direction_buf_get(e, h) < 0)) {
		exchange_wait_for_buffer(s, SERVER);
		return 0;
	}
	at = h->tail + h->lookahead;
	switch (conn_recv(src, h->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		if (!h->lookahead)
			direction_buf_free(e, h);
		return 0;
	case IO_OK:
		direction_count(s, SERVER, got);
		h->lookahead += (uint32_t)got;
		judge_server(s, is_response_whole(s));
		break;
	case IO_EOF:
	case IO_ERR:
		judge_server(s, 1);
		break;
	}
	return h->inspects == INSPECTS_HELD || go_on(s);
}
