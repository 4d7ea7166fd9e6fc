/* The stages of a request between its head and a server. On the session's worker; a stage that
 * waits is entered again from its beginning. */
#include "proxy/http1/request.h"

#include <string.h>

#include "base/counter.h"
#include "base/sbuf.h"
#include "http/h1_message.h"
#include "http/hop.h"
#include "net/conn_stream.h"
#include "net/silent_drop.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/http1/cache_reply.h"
#include "proxy/http1/case_adjust.h"
#include "proxy/http1/http_out.h"
#include "proxy/http1/informational.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/model/count.h"
#include "proxy/model/http_count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/service.h"
#include "proxy/model/session.h"
#include "proxy/model/stream_extras.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/eval.h"
#include "proxy/sample/http_line.h"
#include "proxy/sample/route.h"
#include "rule/action/action.h"
#include "http/uri.h"
#include "proxy/model/stats_conf.h"
#include "rule/action/act.h"
#include "rule/action/place.h"
#include "rule/sample/fetch.h"

/* --- statistics: access to them and to their form; contents: model/service.h --- */

/* The target, or its path and query if it names a host too. */
static struct str
path_asked_for(const struct http_txn *t)
{
	struct http_uri u;

	http_uri_split(t->req.target, &u);
	return u.pathq.p ? u.pathq : t->req.target;
}

static int
has_uri_prefix(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_is((struct str){ s.p, prefix.len }, prefix);
}

/* True if the request is for the statistics. As in HAProxy, with other methods it is a request like
 * any other. */
static int
stats_are_asked_for(const struct stream *s, const struct proxy *px)
{
	const struct http_txn *t = s->txn;

	if (!px || !px->stats)
		return 0;
	return (t->req.method == HTTP_GET || t->req.method == HTTP_HEAD ||
		t->req.method == HTTP_POST) &&
		has_uri_prefix(path_asked_for(t), str_of(stats_conf_uri(px->stats)));
}

/* --- permission to see it --- */

/* True if `stats auth` admits the client; otherwise v is a 401. The texts lie in the worker's
 * arena. */
static int
stats_admit(struct stream *s, const struct proxy *px, struct rule_outcome *v)
{
	const struct stats_conf *c = px->stats;
	struct str name, password;
	struct sample sample;
	struct eval eval;

	s->txn->served_by = s->engine->shared->services ? "<STATS>" : NULL;
	if (list_is_empty(&c->users))
		return 1;
	eval_init(&eval, s, rule_place_scope(RULE_HTTP_REQUEST));
	if (rule_basic_auth(&eval.cx, &sample, &name, &password) &&
		stats_conf_admits(c, name, password))
		return 1;
	act_challenge(stats_conf_realm(c), &eval.cx, v);
	return 0;
}

/* --- permission to change something --- */

static int
evaluate_admin(struct stream *s, const struct proxy *px)
{
	struct eval eval;

	eval_init(&eval, s, rule_place_scope(RULE_HTTP_REQUEST));
	eval.cx.req_ended = 1;
	list_each(it, &px->stats->admin_rules) {
		const struct stats_admin_rule *r =
			list_entry(it, const struct stats_admin_rule, link);

		eval.cx.where = &r->where;
		if (rule_cond_eval(r->cond, &eval.cx) == RULE_YES)
			return 1;
	}
	return 0;
}

static struct str
field_value(const struct http_head *h, struct str name)
{
	int at = http_find(h, name, 0);

	return at < 0 ? (struct str){ NULL, 0 } : h->field[at].value;
}

/* True if the URI, of Origin or Referer, is of this host. "null" is of none. */
static int
is_of_host(struct str uri, struct str host)
{
	struct http_uri u;

	http_uri_split(uri, &u);
	return u.form == HTTP_FORM_ABSOLUTE && host.len && str_is_nocase(u.authority, host);
}

/*
 * A page of another site can have a browser send the form, with the user's password. A browser
 * sends the origin of a form in at least one of these fields. A client without these fields, such
 * as curl, is not a browser.
 */
static int
is_foreign(const struct http_head *h)
{
	struct str site = field_value(h, STR("Sec-Fetch-Site"));
	struct str origin = field_value(h, STR("Origin"));
	struct str referer = field_value(h, STR("Referer"));
	struct str host = field_value(h, STR("Host"));

	if (site.p && !str_is(site, STR("same-origin")) && !str_is(site, STR("none")))
		return 1;
	if (origin.p)
		return !is_of_host(origin, host);
	return referer.p && !is_of_host(referer, host);
}

/* --- the service takes over --- */

static unsigned int
job_flags(struct stream *s, const struct proxy *px)
{
	const struct http_txn *t = s->txn;
	unsigned int flags = 0;

	if (evaluate_admin(s, px))
		flags |= STATS_JOB_ADMIN;
	if (t->req.method != HTTP_POST)
		return flags;
	flags |= STATS_JOB_POST;
	if (is_foreign(&t->req))
		flags |= STATS_JOB_FOREIGN;
	if (!h1_body_is_over(&t->h1[CLIENT]->body))
		flags |= STATS_JOB_CUT;
	return flags;
}

/* The rules have admitted the client, and its request is there: the service takes over. 0, or
 * -1. */
static int
stats_serve(struct stream *s, struct proxy *px)
{
	struct http_txn *t = s->txn;
	const struct services *sv = s->engine->shared->services;
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	unsigned int flags = job_flags(s, px);
	struct str none = { NULL, 0 };

	t->job = service_new(s, sv ? sv->stats : NULL, path_asked_for(t),
		flags & STATS_JOB_POST ? eval_received_body(s) : none);
	arena_release(a, mark);
	if (!t->job)
		return -1;
	t->job->conf = px;
	t->job->flags = flags;
	stream_set_term(s, 'L', 'R');
	return 0;
}

/* --- steps of a request --- */

/* --- use-service --- */

/* The Prometheus exporter takes over, or txn->status is 500. */
static void
use_service(struct stream *s)
{
	struct http_txn *t = s->txn;
	const struct services *sv = s->engine->shared->services;
	const struct local_service *service = sv ? sv->metrics : NULL;

	t->job = service_new(s, service, t->req.target, (struct str){ NULL, 0 });
	t->served_by = service ? service->name : NULL;
	t->status = t->job ? 0 : 500;
}

/* --- 103 (Early Hints): the scratch buffer is free while rules run --- */

/* The room left of an informational response before it stays in the same buffer. */
static size_t
room_for_hints(const struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];

	return s->engine->bufsize - (direction_buffered(d) ? d->tail : 0);
}

static void
write_hints(const struct rule_hint *hint, struct sbuf *b)
{
	for (; hint; hint = hint->next) {
		if (hint->begins)
			sbuf_adds(b, "HTTP/1.1 103 Early Hints\r\n");
		sbuf_add(b, hint->name.p, hint->name.len);
		sbuf_adds(b, ": ");
		sbuf_add(b, hint->value.p, hint->value.len);
		sbuf_adds(b, "\r\n");
		if (!hint->next || hint->next->begins)
			sbuf_adds(b, "\r\n");
	}
}

/*
 * Sends the hints: those of neighbouring rules in one response. A client of HTTP/1.0 gets none.
 * Hints that do not fit into a buffer are dropped. 0, or -1: as informational_send().
 */
static int
early_hints_send(struct stream *s, const struct rule_hint *first)
{
	struct sbuf b;

	if (s->txn->version == HTTP_1_0)
		return 0;
	sbuf_init_fixed(&b, s->engine->scratch, room_for_hints(s));
	write_hints(first, &b);
	case_adjust_to_client(s, b.p, b.len);
	return b.failed ? 0 : informational_send(s, (struct str){ b.p, b.len });
}

/* In this order, for the frontend and then for a different backend (manual 4.2). */
enum stage {
	STAGE_FE_CONTENT,
	STAGE_FE_BODY,
	STAGE_FE_RULES,
	STAGE_FE_STATS,
	STAGE_FE_SERVE,
	STAGE_FE_REDIRECT,
	STAGE_ROUTE,
	STAGE_BE_CONTENT,
	STAGE_BE_BODY,
	STAGE_BE_RULES,
	STAGE_BE_STATS,
	STAGE_BE_SERVE,
	STAGE_BE_REDIRECT,
	STAGE_KEY, /* the balancing key in the body */
	STAGE_END
};

enum stream_event
request_refuse(struct stream *s, unsigned int status)
{
	count_failed_req(s);
	if (unlikely(s->extras != NULL))
		stream_count_refused(s, status);
	stream_set_term(s, 'P', 'R');
	s->txn->status = status;
	return STREAM_EV_ANSWER;
}

/* --- the body --- */

static int
body_may_grow(const struct stream *s)
{
	const struct direction *d = &s->dir[CLIENT];

	return d->state == DIRECTION_OPEN && d->tail + d->lookahead < s->engine->bufsize;
}

/* An informational response is cut: nothing else may be sent. */
static enum stream_event
lose_client(struct stream *s)
{
	stream_set_term(s, 'R', 'R');
	conn_reset_on_close(s->conn[CLIENT]);
	return STREAM_EV_CLOSE;
}

/* Sends 100 (Continue), since no server has seen the request yet (RFC 9110, 10.1.1). */
static enum stream_event
ask_for_body(struct stream *s)
{
	struct http_txn *t = s->txn;

	if (t->version == HTTP_1_0 || !http_lists(&t->req, HTTP_F_EXPECT, STR("100-continue")))
		return STREAM_EV_NONE;
	http_drop_id(&t->req, HTTP_F_EXPECT);
	return informational_send(s, STR("HTTP/1.1 100 Continue\r\n\r\n")) == 0 ? STREAM_EV_NONE
									 : lose_client(s);
}

static int
buffers_request(const struct proxy *px)
{
	return (px->options & OPT_HTTP_BUFFER_REQUEST) != 0;
}

/* True if the method is POST, and was POST originally. */
static int
wants_key(const struct http_txn *t)
{
	return t->method == HTTP_POST && balance_wants_body(t->be->balance, &t->req);
}

/* Waits for as much of the body as fits into the buffer; more: it is there, or cannot arrive. The
 * timeout is that of the proxy that needs the body, from now on (manual, timeout http-request). */
static struct io_step
await_body(struct stream *s, const struct proxy *px, int wants)
{
	struct http_txn *t = s->txn;

	if (!wants || !body_may_grow(s)) {
		t->wait_until_ms = 0;
		http_note_head_time(s);
		return io_more(1);
	}
	if (!t->wait_until_ms && px->to.http_request)
		t->wait_until_ms = stream_now_ms(s) + px->to.http_request;
	return io_event(ask_for_body(s));
}

int
request_is_taken(const struct stream *s)
{
	const struct http_txn *t = s->txn;

	return t->stage == STAGE_KEY;
}

static void
look_at_body(struct stream *s, struct sample_ctx *cx)
{
	const struct http_txn *t = s->txn;

	cx->req_body = (struct sample_body){ .content = eval_received_body(s),
		.is_whole = (uint8_t)h1_body_is_over(&t->h1[CLIENT]->body),
		.is_full = !body_may_grow(s) };
	cx->req_len = t->h1[CLIENT]->parser.at + s->dir[CLIENT].tail - t->head_end;
}

/* --- rules --- */

static int
is_silent(enum rule_end what)
{
	return what == RULE_END_REJECT || what == RULE_END_DROP;
}

static enum stream_event
event_of_end(enum rule_end what)
{
	if (is_silent(what))
		return STREAM_EV_CLOSE;
	return what == RULE_END_TARPIT ? STREAM_EV_TARPIT : STREAM_EV_ANSWER;
}

/* True if the request was delayed until its body was there. */
static int
was_buffered(const struct stream *s)
{
	const struct http_txn *t = s->txn;

	return (t->stage > STAGE_FE_BODY && buffers_request(s->sess->fe)) ||
		(t->stage > STAGE_BE_BODY && t->be && buffers_request(t->be));
}

/*
 * Log data of a request ended by a rule, as in HAProxy: a redirected client, or one without a
 * reply, has no session data; a request dropped at once does not count as complete, unless its body
 * was waited for, and as none if tcp content rules ran before.
 */
static void
note_end(struct stream *s, enum rule_end what)
{
	struct http_txn *t = s->txn;

	cache_reply_drop(s);
	if (what != RULE_END_REPLY && !is_silent(what))
		capture_cookie(s, &t->req);
	t->no_timers = (is_silent(what) || what == RULE_END_TARPIT) && !was_buffered(s);
	if (is_silent(what) && t->stage == STAGE_FE_CONTENT) {
		http_line_drop(t);
		capture_drop_fields(s, CAPTURE_REQUEST);
	}
}

/* Applies the outcome of a rule. The request must not be used any more: texts of earlier rules are
 * in the arena. */
static enum stream_event
apply_outcome(struct stream *s, const struct rule_outcome *v)
{
	note_end(s, v->what);
	rule_outcome_set_term(s, v, v->what == RULE_END_TARPIT ? 'T' : 'R');
	if (v->what == RULE_END_DENY || v->what == RULE_END_TARPIT)
		stream_count_client_error(s);
	if (!rule_outcome_is_reply(v->what) && v->what != RULE_END_ERROR)
		rule_outcome_count_denied(s, CLIENT);
	else if (rule_outcome_is_reply(v->what) && !s->txn->be)
		counter_add(&fe_stat(s)->intercepted, 1);
	if (v->what == RULE_END_DROP)
		conn_silent_drop_on_close(s->conn[CLIENT]);
	else if (v->what == RULE_END_SERVICE)
		use_service(s);
	else if (v->what == RULE_END_REJECT)
		conn_end_below_on_close(s->conn[CLIENT]);
	else
		rule_outcome_reply(s, v);
	/* Rules of the response do not see it yet, as in HAProxy. */
	if (v->is_challenge)
		stream_count_client_error(s);
	s->txn->req_is_gone = 1;
	return event_of_end(v->what);
}

/* Waits for more data or the deadline; without one the client's timeout ends it. */
static enum stream_event
wait_for_body(struct stream *s, unsigned int ms)
{
	struct http_txn *t = s->txn;

	if (!t->wait_until_ms && ms)
		t->wait_until_ms = stream_now_ms(s) + ms;
	return ask_for_body(s);
}

/* Waits for a name server, or for a subrequest, which has its own deadlines; the body may come
 * meanwhile. */
static enum stream_event
wait_for_answer(struct stream *s, unsigned int ms)
{
	struct http_txn *t = s->txn;

	if (!ms)
		t->wait_until_ms = TIMER_NEVER;
	else if (!t->wait_until_ms)
		t->wait_until_ms = stream_now_ms(s) + ms;
	return STREAM_EV_NONE;
}

/* Runs one list of rules: returns the event with which a rule, or a failure, has ended the
 * request. */
static enum stream_event
run_list(struct stream *s, const struct proxy *px, unsigned int list, struct eval *eval,
	struct rule_outcome *v)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	enum stream_event ev = STREAM_EV_NONE;
	enum rule_result result;

	look_at_body(s, &eval->cx);
	v->head = rule_outcome_head(s);
	v->most = 0;
	result = rule_outcome_run(s, px, list, &s->txn->at, eval, v);
	if (v->hints && early_hints_send(s, v->hints) < 0) {
		s->txn->req_is_gone = 1;
		ev = lose_client(s);
	} else if (result == RULE_FINAL) {
		ev = apply_outcome(s, v);
	} else if (arena_mark(a) > mark && http_settle_request(s) < 0) {
		/* Its texts are released with the arena. */
		capture_cookie(s, &s->txn->req);
		s->txn->req_is_gone = 1;
		ev = request_refuse(s, 500);
	} else if (result == RULE_YIELD) {
		ev = v->awaits_answer ? wait_for_answer(s, v->wait_ms)
				      : wait_for_body(s, v->wait_ms);
	}
	arena_release(a, mark);
	return ev;
}

static struct io_step
run_rules(struct stream *s, const struct proxy *px, unsigned int list)
{
	struct http_txn *t = s->txn;
	unsigned int at = rule_place_scope(RULE_HTTP_REQUEST);
	struct rule_outcome v;
	enum stream_event ev;
	struct eval eval;

	eval_init(&eval, s, t->be ? at | SAMPLE_AT_BACK : at);
	eval.cx.req_ended = 1;
	ev = run_list(s, px, list, &eval, &v);
	if (ev != STREAM_EV_NONE || t->at.next)
		return io_event(ev);
	t->at = (struct rules_at){ NULL, 0 };
	t->wait_until_ms = 0;
	return io_more(1);
}

/* True if the request may stop at its backend before a server is chosen: for rules that answer it,
 * or for its body. */
static int
may_stop_at_backend(const struct stream *s)
{
	const struct proxy *be = s->txn->be;

	if (buffers_request(be) || wants_key(s->txn))
		return 1;
	return be != s->sess->fe &&
		(be->stats || proxy_has_rules(&be->rules, RULE_TCP_REQ_CONTENT) ||
			proxy_has_rules(&be->rules, RULE_HTTP_REQUEST) ||
			proxy_has_rules(&be->rules, RULES_REDIRECT));
}

/* Chooses the backend, if there is one, and counts the request there before its rules run. One that
 * cannot stop there is counted with the choice of its server, under the same lock. */
static void
enter_backend(struct stream *s)
{
	struct http_txn *t = s->txn;

	t->be = stream_upgraded_to(s);
	if (!t->be)
		t->be = route_backend(s);
	if (!t->be)
		return;
	count_backend(http_be_stat(s));
	if (may_stop_at_backend(s))
		queue_join(s, t->be);
}

/* more: continue with the next stage. */
static inline struct io_step
apply_rules(struct stream *s, const struct proxy *px, unsigned int list)
{
	return proxy_has_rules(&px->rules, list) ? run_rules(s, px, list) : io_more(1);
}

/* option http-restrict-req-hdr-names: the characters that it leaves. */
static int
has_plain_name(const struct http_field *f)
{
	for (size_t i = 0; i < f->name.len; i++) {
		char c = str_lower(f->name.p[i]);

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
			return 0;
	}
	return 1;
}

/* 0, or -1: there is such a name, and it is not to be deleted. */
static int
restrict_names(struct http_head *h, enum http_names how)
{
	for (unsigned int i = 0; i < h->n; i++) {
		if (h->field[i].dropped || has_plain_name(&h->field[i]))
			continue;
		if (how == HTTP_NAMES_REJECT)
			return -1;
		http_drop(h, i);
	}
	return 0;
}

static struct io_step
refuse_names(struct stream *s, enum http_names how)
{
	if (restrict_names(&s->txn->req, how) == 0)
		return io_more(1);
	return io_event(apply_outcome(
		s, &(const struct rule_outcome){ .what = RULE_END_DENY, .status = 403 }));
}

/* A rule has found a stored response, and none behind it has ended the request: as in HAProxy. */
static struct io_step
serve_stored(struct stream *s)
{
	capture_cookie(s, &s->txn->req);
	stream_set_term(s, 'L', 'R');
	if (!s->txn->be)
		counter_add(&fe_stat(s)->intercepted, 1);
	return io_event(cache_reply_make(s));
}

/* The rules http-request, and what follows them in each proxy. */
static struct io_step
apply_request_rules(struct stream *s, const struct proxy *px)
{
	struct io_step step = apply_rules(s, px, RULE_HTTP_REQUEST);

	if (step.more && px->http.names != HTTP_NAMES_PRESERVE && px->mode == PROXY_HTTP)
		step = refuse_names(s, px->http.names);
	return step.more && stream_is_served_by_cache(s) ? serve_stored(s) : step;
}

/* --- the statistics --- */

/* px: the proxy that has them. more: the request is not for them, or the client may see them. */
static struct io_step
admit_to_stats(struct stream *s, const struct proxy *px)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct rule_outcome v = { .proxy = s };
	struct io_step step = io_more(1);

	if (!stats_are_asked_for(s, px))
		return step;
	if (!stats_admit(s, px, &v))
		step = io_event(apply_outcome(s, &v));
	arena_release(a, mark);
	return step.more ? apply_rules(s, px, RULES_STATS) : step;
}

/* A form is small: it is waited for in the buffer. */
static struct io_step
serve_stats(struct stream *s, struct proxy *px)
{
	struct io_step step = io_more(1);

	if (!stats_are_asked_for(s, px))
		return step;
	if (s->txn->req.method == HTTP_POST)
		step = await_body(s, px, 1);
	if (!step.more)
		return step;
	if (!s->txn->be)
		counter_add(&fe_stat(s)->intercepted, 1);
	return io_event(stats_serve(s, px) < 0 ? request_refuse(s, 500) : STREAM_EV_ANSWER);
}

/* --- all of it --- */

/* Ends a request whose body is truncated: no server gets it. */
static struct io_step
abort_request(struct stream *s)
{
	stream_set_term(s, 'C', 'R');
	count_failed_req(s);
	counter_add(&http_be_stat(s)->cli_abrt, 1);
	return io_event(STREAM_EV_CLOSE);
}

/* The request goes to a server. */
static struct io_step
finish_request(struct stream *s)
{
	struct http_txn *t = s->txn;

	if (s->dir[CLIENT].broken && t->be)
		return abort_request(s);
	/* Rules may have changed it. */
	t->method = t->req.method;
	t->hop = (uint8_t)http_strip_hop(&t->req, t->is_proxied);
	if ((t->hop & HTTP_HOP_UPGRADE) && http_lacks_websocket(&t->req)) {
		http_close_after(t, CLIENT);
		return io_event(request_refuse(s, 400));
	}
	return io_event(STREAM_EV_REQUEST);
}

/* The content rules of the frontend. A request that they reject does not count in tracked entries,
 * as in HAProxy. */
static struct io_step
apply_first_rules(struct stream *s)
{
	/* In mode tcp they have run on the bytes of this request. */
	struct io_step step = io_more(1);

	if (!stream_upgraded_to(s))
		step = apply_rules(s, s->sess->fe, RULE_TCP_REQ_CONTENT);
	if (unlikely(s->extras != NULL) && step.more)
		stream_count_tracked_request(s);
	return step;
}

static inline int
has_stats(const struct proxy *px)
{
	return px && px->stats;
}

/* more: continue with the next stage. */
static inline __attribute__((always_inline)) struct io_step
run_stage(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct proxy *be = t->be == s->sess->fe ? NULL : t->be;

	switch ((enum stage)t->stage) {
	case STAGE_FE_CONTENT:
		return apply_first_rules(s);
	case STAGE_FE_BODY:
		return await_body(s, s->sess->fe, buffers_request(s->sess->fe));
	case STAGE_FE_RULES:
		return apply_request_rules(s, s->sess->fe);
	case STAGE_FE_STATS:
		return has_stats(s->sess->fe) ? admit_to_stats(s, s->sess->fe) : io_more(1);
	case STAGE_FE_SERVE:
		return has_stats(s->sess->fe) ? serve_stats(s, s->sess->fe) : io_more(1);
	case STAGE_FE_REDIRECT:
		return apply_rules(s, s->sess->fe, RULES_REDIRECT);
	case STAGE_ROUTE:
		enter_backend(s);
		return io_more(1);
	case STAGE_BE_CONTENT:
		return be ? apply_rules(s, be, RULE_TCP_REQ_CONTENT) : io_more(1);
	case STAGE_BE_BODY:
		return t->be ? await_body(s, t->be, buffers_request(t->be)) : io_more(1);
	case STAGE_BE_RULES:
		return be ? apply_request_rules(s, be) : io_more(1);
	case STAGE_BE_STATS:
		return has_stats(be) ? admit_to_stats(s, be) : io_more(1);
	case STAGE_BE_SERVE:
		return has_stats(be) ? serve_stats(s, be) : io_more(1);
	case STAGE_BE_REDIRECT:
		return be ? apply_rules(s, be, RULES_REDIRECT) : io_more(1);
	case STAGE_KEY:
		return t->be ? await_body(s, t->be, wants_key(t)) : io_more(1);
	case STAGE_END:
		break;
	}
	return finish_request(s);
}

enum stream_event
request_process(struct stream *s)
{
	struct io_step step;

	for (;; s->txn->stage++) {
		step = run_stage(s);
		if (!step.more)
			return step.ev;
	}
}
