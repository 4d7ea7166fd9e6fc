/* Rules of a response: content rules, http-response and http-after-response. On the session's
 * worker; a stage that waits is entered again at the rule that waits. */
#include "proxy/http1/response_rules.h"

#include <stdio.h>

#include "http/cacheable.h"
#include "proxy/backend/server_state.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/http_out.h"
#include "proxy/http1/persist.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/model/http_count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/eval.h"

/* In this order: the backend's rules come first (manual, http-response). Content rules exist in
 * backends only. */
enum stage {
	STAGE_FE_TCP_EVENTS,
	STAGE_BE_CONTENT,
	STAGE_FE_EVENTS,
	STAGE_BE_RULES,
	STAGE_FE_RULES,
	STAGE_COOKIES,
	STAGE_BE_AFTER,
	STAGE_FE_AFTER,
	STAGE_END
};

static int
has_response_rules(const struct proxy *p)
{
	return (int)(p->rules.has &
		(RULE_IN(TCP_RES_CONTENT) | RULE_IN(HTTP_RESPONSE) |
			RULE_IN(HTTP_AFTER_RESPONSE) | 1u << RULES_RES_EVENTS |
			1u << RULES_TCP_EVENTS));
}

/* The rule `close`: as if the server had closed before its response. */
static enum stream_event
close_before_response(struct stream *s)
{
	if (!conn_is_stream(s->conn[SERVER]) && !s->conn[SERVER]->err)
		conn_reset_on_close(s->conn[SERVER]);
	http_count_bad_response(s);
	return exchange_fail(s, 502, 'S', 'H');
}

static enum stream_event
apply_response_outcome(struct stream *s, const struct rule_outcome *v)
{
	if (v->what == RULE_END_CLOSE)
		return close_before_response(s);
	if (v->what == RULE_END_DROP)
		return rule_outcome_drop_response(s, v);
	rule_outcome_set_term(s, v, v->what == RULE_END_REJECT ? 'D' : 'H');
	if (v->what != RULE_END_REPLY && v->what != RULE_END_ERROR)
		rule_outcome_count_denied(s, SERVER);
	if (v->what == RULE_END_REJECT)
		return STREAM_EV_CLOSE;
	rule_outcome_reply(s, v);
	return STREAM_EV_ANSWER;
}

/* A rule waits for more of the body. The time of the first one that waits bounds all of them, as in
 * HAProxy. The texts that rules have made so far leave the arena. */
static struct io_step
await_response_body(struct stream *s, unsigned int ms)
{
	struct http_txn *t = s->txn;

	if (http_settle_response(s) < 0)
		return io_event(exchange_fail(s, 500, 'P', 'H'));
	if (!t->wait_until_ms && ms)
		t->wait_until_ms = stream_now_ms(s) + ms;
	return io_stop();
}

/* Runs one list; more: continue with the next stage. */
static struct io_step
run_response_list(struct stream *s, const struct proxy *px, unsigned int list)
{
	struct http_txn *t = s->txn;
	struct rule_outcome v;
	struct eval eval;

	if (!proxy_has_rules(&px->rules, list))
		return io_more(1);
	v.head = rule_outcome_head(s);
	v.most = 0;
	eval_init(&eval, s, rule_place_scope(list < RULE_PLACES ? list : RULE_HTTP_RESPONSE));
	eval.cx.req_ended = 1;
	eval.cx.res_len = t->h1[SERVER]->parser.at + s->dir[SERVER].lookahead;
	eval.cx.read_res_body = eval_response_body;
	switch (rule_outcome_run(s, px, list, &t->at, &eval, &v)) {
	case RULE_YIELD:
		return await_response_body(s, v.wait_ms);
	case RULE_FINAL:
		t->after_fails += list == RULE_HTTP_AFTER_RESPONSE;
		if (v.what == RULE_END_DROP && list != RULE_TCP_RES_CONTENT)
			t->status = t->res.status;
		return io_event(apply_response_outcome(s, &v));
	case RULE_CONT:
	case RULE_STOP:
		break;
	}
	t->at = (struct rules_at){ NULL, 0 };
	return io_more(1);
}

/* Runs rules tcp-response content; the server's response is counted when they let it pass. */
static struct io_step
run_tcp_stage(struct stream *s)
{
	struct io_step step = run_response_list(s, s->be, RULE_TCP_RES_CONTENT);

	if (step.more && proxy_has_rules(&s->be->rules, RULE_TCP_RES_CONTENT))
		http_count_server(s);
	return step;
}

/* option checkcache: a response that would share a cookie is denied. */
static enum stream_event
check_cache(struct stream *s)
{
	char text[256];

	if (!(s->be->options & OPT_CHECKCACHE) || !http_shares_cookie(&s->txn->res) ||
		persist_hides_answer(s))
		return STREAM_EV_NONE;
	(void)snprintf(text, sizeof(text),
		"Blocking cacheable cookie in response from instance %s, server %s.", s->be->name,
		s->srv->name);
	server_alert(s->engine, s->srv, text);
	return apply_response_outcome(
		s, &(const struct rule_outcome){ .what = RULE_END_DENY, .status = 502 });
}

/* Between http-response and http-after-response: cookies of the server are known. */
static enum stream_event
look_at_cookies(struct stream *s)
{
	capture_cookie(s, &s->txn->res);
	return check_cache(s);
}

/* more: continue with the next stage. */
static struct io_step
run_response_stage(struct stream *s)
{
	struct proxy *fe = s->be == s->sess->fe ? NULL : s->sess->fe;
	enum stream_event ev;

	switch ((enum stage)s->txn->res_stage) {
	case STAGE_FE_TCP_EVENTS:
		rule_outcome_note_room(s, &s->txn->res, s->txn->h1[SERVER]->parser.at);
		return run_response_list(s, s->sess->fe, RULES_TCP_EVENTS);
	case STAGE_BE_CONTENT:
		return run_tcp_stage(s);
	case STAGE_FE_EVENTS:
		return run_response_list(s, s->sess->fe, RULES_RES_EVENTS);
	case STAGE_BE_RULES:
		return run_response_list(s, s->be, RULE_HTTP_RESPONSE);
	case STAGE_FE_RULES:
		return fe ? run_response_list(s, fe, RULE_HTTP_RESPONSE) : io_more(1);
	case STAGE_COOKIES:
		ev = look_at_cookies(s);
		return ev == STREAM_EV_NONE ? io_more(1) : io_event(ev);
	case STAGE_BE_AFTER:
		return run_response_list(s, s->be, RULE_HTTP_AFTER_RESPONSE);
	case STAGE_FE_AFTER:
		return fe ? run_response_list(s, fe, RULE_HTTP_AFTER_RESPONSE) : io_more(1);
	case STAGE_END:
		break;
	}
	return io_stop();
}

static struct io_step
run_stages(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct io_step step;

	while (t->res_stage < STAGE_END) {
		step = run_response_stage(s);
		if (step.more)
			t->res_stage++;
		/* A head that has grown leaves no room: the rule has to know. */
		else if (step.ev != STREAM_EV_NONE || eval_response_may_grow(s) ||
			stream_awaits_answer(s))
			return step;
	}
	t->res_stage = STAGE_FE_TCP_EVENTS;
	t->wait_until_ms = 0;
	return io_more(1);
}

struct io_step
response_rules_run(struct stream *s)
{
	enum stream_event ev;

	if (has_response_rules(s->be) || has_response_rules(s->sess->fe))
		return run_stages(s);
	ev = look_at_cookies(s);
	return ev == STREAM_EV_NONE ? io_more(1) : io_event(ev);
}
