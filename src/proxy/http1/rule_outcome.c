/* Runs rules over a message and does what they ask for at once. On the session's worker; the caller
 * carries out the rest. */
#include "proxy/http1/rule_outcome.h"

#include "base/mem.h"
#include "net/silent_drop.h"
#include "proxy/model/stats_conf.h"
#include "proxy/model/stream_extras.h"
#include "proxy/model/termination.h"
#include "proxy/model/http_count.h"
#include "proxy/http1/local_reply.h"
#include "proxy/sample/eval.h"

/* There is no response before a request is placed, and afterwards the request must not be used. */
struct http_head *
rule_outcome_head(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct http_head *h = t->placed ? &t->req : &t->res;

	http_head_init(h, HTTP_RESPONSE, h->field, 0);
	http_txn_allow_added(s, h);
	return h;
}

static void
count_failed(struct stream *s, unsigned int n)
{
	struct proxy_stat *be = http_be_stat(s);

	counter_add(&fe_stat(s)->failed_rewrites, n);
	counter_add(&s->sess->listener->stat.failed_rewrites, n);
	if (be)
		counter_add(&be->failed_rewrites, n);
	if (s->srv)
		counter_add(&srv_stat(s)->failed_rewrites, n);
}

static void
take_notes(struct stream *s, const struct rule_outcome *v)
{
	struct http_txn *t = s->txn;

	if (v->log_level)
		s->log_level = (int8_t)v->log_level;
	for (size_t i = 0; i < RULE_TIMEOUTS; i++)
		if (v->timeout_ms[i])
			t->timeout_ms[i] = v->timeout_ms[i];
	if (v->failed_rewrites)
		count_failed(s, v->failed_rewrites);
	t->non_strict = v->non_strict != 0;
	t->no_l7_retry |= v->no_l7_retry != 0;
}

enum rule_result
rule_outcome_run(struct stream *s, const struct proxy *px, unsigned int list, struct rules_at *at,
	struct eval *eval, struct rule_outcome *v)
{
	int awaited = stream_awaits_answer(s);
	struct http_head *head = v->head;
	size_t most = v->most;
	enum rule_result result;

	mem_clear(v, sizeof(*v));
	v->proxy = s;
	v->non_strict = s->txn->non_strict;
	v->head = head;
	v->realm = list == RULES_STATS ? STATS_REALM_DEFAULT : px->name;
	v->most = most ? most : s->engine->bufsize - H1_EXTRA_MAX;
	result = proxy_rules_run(&px->rules, list, at, &eval->cx, v);
	take_notes(s, v);
	/* The deadline of a wait for the body is not that of an answer. */
	if (unlikely(v->awaits_answer) && !awaited)
		s->txn->wait_until_ms = 0;
	/* As in HAProxy: not of redirect rules of their own. */
	if (v->by && list < RULE_PLACES)
		s->txn->last_rule = v->by;
	return result;
}

void
rule_outcome_count_denied(struct stream *s, int side)
{
	struct proxy_stat *be = http_be_stat(s);

	if (side == CLIENT) {
		count_denied_req(s);
		if (be)
			counter_add(&be->denied_req, 1);
		return;
	}
	count_denied_resp(s);
	counter_add(&be_stat(s)->denied_resp, 1);
	counter_add(&srv_stat(s)->denied_resp, 1);
}

enum stream_event
rule_outcome_drop_response(struct stream *s, const struct rule_outcome *v)
{
	rule_outcome_set_term(s, v, 'R');
	rule_outcome_count_denied(s, CLIENT);
	conn_silent_drop_on_close(s->conn[CLIENT]);
	return STREAM_EV_CLOSE;
}

void
rule_outcome_set_term(struct stream *s, const struct rule_outcome *v, char phase)
{
	stream_set_term(s, rule_outcome_is_reply(v->what) ? 'L' : 'P', phase);
}

void
rule_outcome_reply(struct stream *s, const struct rule_outcome *v)
{
	int rc = 0;

	s->txn->status = v->status;
	if (v->has_answer && v->is_empty)
		s->txn->reply = HTTP_REPLY_EMPTY;
	else if (v->has_answer)
		rc = local_reply_make(s, v->head, v->body);
	else if (v->field.p)
		rc = local_reply_make_page_with(s, v->field, v->value);
	else if (local_reply_has_formats(s))
		rc = local_reply_make_page(s);
	if (rc < 0)
		local_reply_failed(s);
}
