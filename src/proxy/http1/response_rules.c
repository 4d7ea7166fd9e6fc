/* Rules of a response: content rules, http-response and http-after-response. On the session's
 * worker. */
#include "proxy/http1/response_rules.h"

#include <stdio.h>

#include "http/cacheable.h"
#include "net/silent_drop.h"
#include "proxy/backend/server_report.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/persist.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/eval.h"

static int
has_response_rules(const struct proxy *p)
{
	return (int)(p->rules.has &
		(RULE_IN(TCP_RES_CONTENT) | RULE_IN(HTTP_RESPONSE) |
			RULE_IN(HTTP_AFTER_RESPONSE)));
}

static enum session_event
apply_response_outcome(struct session *s, const struct rule_outcome *v)
{
	rule_outcome_set_term(s, v, v->what == RULE_END_REJECT ? 'D' : 'H');
	if (v->what != RULE_END_REPLY && v->what != RULE_END_ERROR)
		rule_outcome_count_denied(s, SERVER);
	if (v->what == RULE_END_DROP)
		conn_silent_drop_on_close(&s->conn[CLIENT]);
	if (v->what == RULE_END_DROP || v->what == RULE_END_REJECT)
		return SESSION_EV_CLOSE;
	rule_outcome_reply(s, v);
	return SESSION_EV_ANSWER;
}

/* Runs one list: NONE, or the event with which a rule has ended the response. */
static enum session_event
run_response_list(struct session *s, const struct proxy *px, unsigned int list, struct eval *eval)
{
	struct rule_outcome v = { .head = rule_outcome_head(s) };
	struct rules_at at = { 0 };

	if (!proxy_has_rules(&px->rules, list) ||
		rule_outcome_run(s, px, list, &at, eval, &v) != RULE_FINAL)
		return SESSION_EV_NONE;
	s->txn->after_fails += list == RULE_HTTP_AFTER_RESPONSE;
	return apply_response_outcome(s, &v);
}

/* option checkcache: a response that would share a cookie is denied. */
static enum session_event
check_cache(struct session *s)
{
	const struct rule_outcome denied = { .what = RULE_END_DENY, .status = 502 };
	char text[256];

	if (!(s->be->options & OPT_CHECKCACHE) || !http_shares_cookie(&s->txn->res) ||
		persist_hides_answer(s))
		return SESSION_EV_NONE;
	(void)snprintf(text, sizeof(text),
		"Blocking cacheable cookie in response from instance %s, server %s.", s->be->name,
		s->srv->name);
	server_alert(s->engine, s->srv, text);
	return apply_response_outcome(s, &denied);
}

/* Between http-response and http-after-response: cookies of the server are known. */
static enum session_event
look_at_cookies(struct session *s)
{
	capture_cookie(s, &s->txn->res);
	return check_cache(s);
}

/* The backend's rules come first (manual, http-response). */
static enum session_event
run_response_lists(struct session *s)
{
	static const unsigned int lists[] = { RULE_TCP_RES_CONTENT, RULE_HTTP_RESPONSE,
		RULE_HTTP_AFTER_RESPONSE };
	enum session_event ev = SESSION_EV_NONE;
	struct eval eval;

	for (size_t i = 0; i < ARRAY_LEN(lists) && ev == SESSION_EV_NONE; i++) {
		/* Content rules exist in backends only. */
		int has_fe = s->be != s->fe && lists[i] != RULE_TCP_RES_CONTENT;

		if (lists[i] == RULE_HTTP_AFTER_RESPONSE)
			ev = look_at_cookies(s);
		if (ev != SESSION_EV_NONE)
			break;
		eval_init(&eval, s, rule_place_scope((enum rule_place)lists[i]));
		eval.cx.req_ended = 1;
		eval.cx.res_len = s->txn->h1[SERVER]->parser.at + s->dir[SERVER].lookahead;
		ev = run_response_list(s, s->be, lists[i], &eval);
		if (ev == SESSION_EV_NONE && has_fe)
			ev = run_response_list(s, s->fe, lists[i], &eval);
	}
	return ev;
}

enum session_event
response_rules_run(struct session *s)
{
	if (!has_response_rules(s->be) && !has_response_rules(s->fe))
		return look_at_cookies(s);
	rule_outcome_note_room(s, &s->txn->res, s->txn->h1[SERVER]->parser.at);
	return run_response_lists(s);
}
