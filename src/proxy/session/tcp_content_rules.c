/* tcp-request content and tcp-response content. On the session's worker; the bytes
 * are inspected and stay in the buffer for the next state. */
#include "proxy/session/tcp_content_rules.h"

#include <string.h>

#include "proxy/model/termination.h"
#include "proxy/model/count.h"
#include "proxy/model/dns_ask.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/stick.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/filter.h"
#include "base/counter.h"
#include "net/silent_drop.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/eval.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/log/stream_log.h"

/* The operations of dir[SERVER] while its bytes are held back for rules, and for a key once rules
 * have let them pass. */
static const struct relay_ops tcp_content_ops, tcp_key_ops;

/* --- rules --- */

/* The proxy whose rules run in INSPECT. */
static const struct proxy *
inspecting_proxy(const struct stream *s)
{
	return s->be ? s->be : s->sess->fe;
}

/* The rule to begin with: the first one, or an action that waits for data. */
static struct rules_at
take_rule_place(struct stream *s)
{
	struct rules_at at = { 0 };

	if (s->extras) {
		at = s->extras->content_at;
		s->extras->content_at = (struct rules_at){ 0 };
	}
	return at;
}

/* Has the rules continue there; without memory they begin again. */
static void
note_rule_place(struct stream *s, const struct rules_at *at)
{
	struct stream_extras *x = stream_extras_get(s);

	if (x)
		x->content_at = *at;
}

/* All rules run again whenever data arrives, on all data so far (manual), unless it was an action
 * that waited, as in HAProxy. */
static enum rule_result
run_content_rules(struct stream *s, const struct proxy *px, enum rule_place place,
	struct eval *eval, struct rule_outcome *v)
{
	struct rules_at at = take_rule_place(s);
	size_t mark = arena_mark(eval->cx.arena);
	enum rule_result r;

	*v = (struct rule_outcome){ .proxy = s };
	r = proxy_rules_run(&px->rules, place, &at, &eval->cx, v);
	if (r == RULE_YIELD && !v->cond_waits && (!eval->cx.req_ended || v->awaits_answer))
		note_rule_place(s, &at);
	arena_release(eval->cx.arena, mark);
	if (v->log_level)
		s->log_level = (int8_t)v->log_level;
	return r;
}

static void
count_denied_request(struct stream *s, enum rule_end what)
{
	count_denied_req(s);
	/* As in HAProxy: a rejected response is not counted in the backend. */
	if (what == RULE_END_DROP && s->be)
		counter_add(&be_stat(s)->denied_req, 1);
}

/* Counts the rejection and prepares silent-drop, so that closing the client's connection sends
 * nothing. */
static void
refuse_request(struct stream *s, enum rule_end what)
{
	count_denied_request(s, what);
	stream_set_term(s, 'P', 'R');
	if (what == RULE_END_DROP) {
		conn_silent_drop_on_close(s->conn[CLIENT]);
		return;
	}
	conn_end(s->conn[CLIENT], s->engine->scratch, s->engine->bufsize);
}

static void
refuse_response(struct stream *s, enum rule_end what)
{
	if (what == RULE_END_DROP) {
		refuse_request(s, what);
		return;
	}
	count_denied_resp(s);
	counter_add(&be_stat(s)->denied_resp, 1);
	counter_add(&srv_stat(s)->denied_resp, 1);
	stream_set_term(s, 'P', 'D');
}

/* --- a client in mode tcp --- */

static uint64_t
delay_end(const struct stream *s)
{
	return timer_key_after(s->state_ms, inspecting_proxy(s)->rules.inspect_ms);
}

/* No more data will come: the client has closed, or there is no room or time. */
static int
is_final(const struct stream *s)
{
	const struct direction *d = &s->dir[CLIENT];

	return d->state != DIRECTION_OPEN || !direction_has_room(s->engine, d) ||
		!inspecting_proxy(s)->rules.inspect_ms ||
		delay_end(s) <= stream_now_ms(s);
}

static enum rule_result
evaluate_client_rules(struct stream *s, struct rule_outcome *v)
{
	unsigned int at = rule_place_scope(RULE_TCP_REQ_CONTENT) | (s->be ? SAMPLE_AT_BACK : 0);
	struct eval eval;
	enum rule_result r;

	tcp_content_eval_init(&eval, s, at);
	eval.cx.req_ended = is_final(s);
	r = run_content_rules(s, inspecting_proxy(s), RULE_TCP_REQ_CONTENT, &eval, v);
	tcp_content_eval_done(&eval, s);
	return r;
}

static enum stream_event
run_client_rules(struct stream *s)
{
	struct rule_outcome v;

	/* A buffer that it waited for is no longer needed, or needed again. */
	s->dir[CLIENT].waits_for_buffer = 0;
	switch (evaluate_client_rules(s, &v)) {
	case RULE_YIELD:
		/* A name server answers, or the look-up fails, before that. */
		if (v.awaits_answer) {
			s->wake_ms = stream_now_ms(s) + v.wait_ms;
			return STREAM_EV_NONE;
		}
		return is_final(s) ? STREAM_EV_PASSED : STREAM_EV_NONE;
	case RULE_FINAL:
		refuse_request(s, v.what);
		return STREAM_EV_DENIED;
	case RULE_CONT:
	case RULE_STOP:
		break;
	}
	return STREAM_EV_PASSED;
}

/* The result of the rules on the data so far: PASSED, DENIED, or NONE while they wait. */
enum stream_event
tcp_content_decide(struct stream *s)
{
	enum stream_event ev = run_client_rules(s);

	if (ev != STREAM_EV_NONE)
		dns_ask_drop_all(s);
	return ev;
}

enum stream_event
tcp_content_read(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	if (!d->buf && d->state == DIRECTION_OPEN && !memory_reserve_client_buffer(s)) {
		direction_wait_for_buffer(s, CLIENT);
		return STREAM_EV_NONE;
	}
	direction_collect(s);
	return s->conn[CLIENT]->err ? STREAM_EV_CLIENT_GONE : tcp_content_decide(s);
}

uint64_t
tcp_content_deadline(const struct stream *s)
{
	if (stream_awaits_answer(s))
		return s->wake_ms;
	return MIN(delay_end(s), timer_key_after(s->last_ms[CLIENT], s->sess->fe->to.client));
}

/* --- a server in mode tcp --- */

static uint64_t
response_delay_end(const struct stream *s)
{
	return timer_key_after(s->connected_ms, s->be->rules.inspect_response_ms);
}

static int
is_response_due(const struct stream *s)
{
	return response_delay_end(s) <= stream_now_ms(s);
}

/* The held bytes are forwarded normally from now on, or by filters. */
static void
release_response(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];

	d->ops = &relay_plain;
	if (unlikely(stream_may_filter(s)) && filters_begin_plain(s, SERVER))
		return;
	d->tail += d->lookahead;
	d->lookahead = 0;
}

/* The rules let the data pass. */
static void
pass_response(struct stream *s, struct eval *eval)
{
	if (stick_stores(s))
		stick_store(s, &eval->cx);
	release_response(s);
}

/* Ends the server's connection (close): what it has sent is all, and passes; what the client has
 * sent is dropped, also what was not read: with that the close would be a reset. */
static void
end_server(struct stream *s, struct eval *eval)
{
	struct conn *c = s->conn[SERVER];

	pass_response(s, eval);
	c->eof = 1;
	if (!c->err)
		conn_reset_on_close(c);
	direction_discard_pending(s->engine, &s->dir[CLIENT]);
	(void)!conn_discard(s->conn[CLIENT]);
	direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
	direction_event(s, CLIENT, DIRECTION_EV_EMPTY);
	/* Filters reach the end behind the bytes. */
	if (s->dir[SERVER].ops->read)
		conn_presume_ready(c, DIR_R);
	else
		direction_source_ended(s, SERVER);
}

/* True if a key is taken of data that has not come yet. */
static int
awaits_key(const struct stream *s)
{
	return (s->be->persist.stick_what & STICK_STORE_RESPONSE) && !s->dir[SERVER].lookahead;
}

/* Events of the frontend's filters, which either wait or let the rules of the backend follow. */
static enum rule_result
run_response_rules(struct stream *s, struct eval *eval, struct rule_outcome *v)
{
	const struct proxy *fe = s->sess->fe;
	struct rules_at at = { 0 };
	enum rule_result r = RULE_CONT;

	*v = (struct rule_outcome){ .proxy = s };
	if (proxy_has_rules(&fe->rules, RULES_TCP_EVENTS)) {
		size_t mark = arena_mark(eval->cx.arena);

		r = proxy_rules_run(&fe->rules, RULES_TCP_EVENTS, &at, &eval->cx, v);
		arena_release(eval->cx.arena, mark);
	}
	return r == RULE_YIELD ? r : run_content_rules(s, s->be, RULE_TCP_RES_CONTENT, eval, v);
}

/* True if a rule waits for an agent, and its time is not over. */
static int
awaits_agent(struct stream *s, const struct rule_outcome *v)
{
	uint64_t now = stream_now_ms(s);

	if (!v->awaits_answer)
		return 0;
	if (!s->extras->answer_due_ms)
		s->extras->answer_due_ms = timer_key_after(now, v->wait_ms);
	return now < s->extras->answer_due_ms;
}

/* Runs the rules on the server's data until they let it pass; ended: no more will come. DENIED or
 * NONE. */
static enum stream_event
evaluate_response(struct stream *s, int ended)
{
	struct direction *d = &s->dir[SERVER];
	enum rule_result r = RULE_CONT;
	struct rule_outcome v;
	struct eval eval;

	eval_init(&eval, s, rule_place_scope(RULE_TCP_RES_CONTENT));
	if (d->lookahead)
		eval.cx.res_bytes = (struct str){ d->buf + d->tail, d->lookahead };
	eval.cx.req_ended = ended;
	if (d->ops == &tcp_content_ops)
		r = run_response_rules(s, &eval, &v);
	switch (r) {
	case RULE_YIELD:
		if (!awaits_agent(s, &v) && ended)
			pass_response(s, &eval);
		break;
	case RULE_FINAL:
		if (v.what == RULE_END_CLOSE) {
			end_server(s, &eval);
			break;
		}
		refuse_response(s, v.what);
		return STREAM_EV_DENIED;
	case RULE_CONT:
	case RULE_STOP:
		d->ops = &tcp_key_ops;
		if (ended || !awaits_key(s))
			pass_response(s, &eval);
		break;
	}
	return STREAM_EV_NONE;
}

enum stream_event
tcp_content_begin_response(struct stream *s)
{
	s->dir[SERVER].ops = &tcp_content_ops;
	/* Some rules need no data. */
	return evaluate_response(s, 0);
}

/* The held data is sent; the end or failure of the source is handled after it. */
static struct io_step
send_held(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	struct conn *src = s->conn[SERVER];
	struct io_step step;

	if (d->ops->read)
		return d->ops->read(s, SERVER);
	if (src->err)
		direction_side_failed(s, SERVER);
	else if (src->eof)
		direction_source_ended(s, SERVER);
	step = direction_flush(s, SERVER);
	if (step.more && d->state == DIRECTION_DRAIN)
		direction_event(s, SERVER, DIRECTION_EV_EMPTY);
	step.more = d->state == DIRECTION_OPEN && !direction_pending(d);
	return step;
}

/* No more data is waited for: the rules decide now. */
static enum stream_event
end_response(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	uint64_t last = s->last_ms[SERVER];
	int waited = d->waits_for_buffer;
	enum stream_event ev;

	d->waits_for_buffer = 0;
	ev = evaluate_response(s, 1);
	if (ev == STREAM_EV_NONE)
		ev = send_held(s).ev;
	/* The server has sent nothing: its timeout continues. */
	s->last_ms[SERVER] = last;
	/* Unless its data could not be stored: without rules it can continue. */
	if (ev == STREAM_EV_NONE && waited)
		ev = direction_pump_now(s, SERVER);
	return ev;
}

/* Without a delay only the first data is available. */
static int
is_response_whole(const struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];

	return s->conn[SERVER]->eof || !s->be->rules.inspect_response_ms || is_response_due(s) ||
		d->tail + d->lookahead == s->engine->bufsize;
}

/* A read for the rules. */
static struct io_step
read_held(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	struct conn *src = s->conn[side];
	enum stream_event ev = STREAM_EV_NONE;
	size_t got, at;

	if (!(src->err || conn_is_ready(src, DIR_R)) || stream_awaits_answer(s))
		return io_stop();
	if (!d->buf && (!memory_reserve_buffer(e) || direction_buf_get(e, d) < 0)) {
		direction_wait_for_buffer(s, side);
		return io_stop();
	}
	at = d->tail + d->lookahead;
	switch (conn_recv(src, d->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		if (!d->lookahead)
			direction_buf_free(e, d);
		return io_stop();
	case IO_OK:
		direction_count(s, side, got);
		d->lookahead += (uint32_t)got;
		ev = evaluate_response(s, is_response_whole(s));
		break;
	case IO_EOF:
	case IO_ERR:
		ev = evaluate_response(s, 1);
		break;
	}
	if (ev != STREAM_EV_NONE)
		return io_event(ev);
	return d->ops->read == read_held ? io_more(1) : send_held(s);
}

/* An agent has answered, and the rules continue; or their time is over. */
static enum stream_event
continue_response(struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];
	int has_come = d->lookahead || s->conn[SERVER]->eof;
	enum stream_event ev;

	if (!stream_has_answer(s))
		return end_response(s);
	s->extras->answer_due_ms = 0;
	ev = evaluate_response(s, is_response_due(s) || (has_come && is_response_whole(s)));
	return ev != STREAM_EV_NONE || d->ops->read == read_held ? ev : send_held(s).ev;
}

static uint64_t
held_response_due(const struct stream *s)
{
	return stream_awaits_answer(s) ? s->extras->answer_due_ms : response_delay_end(s);
}

static const struct relay_ops tcp_content_ops = {
	.read = read_held,
	.due = held_response_due,
	.late = continue_response,
};

static const struct relay_ops tcp_key_ops = {
	.read = read_held,
	.due = response_delay_end,
	.late = end_response,
};
