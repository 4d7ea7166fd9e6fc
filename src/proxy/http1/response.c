#include "proxy/http1/response.h"

#include <string.h>

#include "proxy/session/actions.h"
#include "proxy/http1/l7_retry.h"
#include "proxy/model/count.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "base/counter.h"
#include "http/auth.h"
#include "proxy/model/http_count.h"
#include "proxy/http1/http_out.h"
#include "net/silent_drop.h"
#include "proxy/sample/capture.h"
#include "proxy/model/memory.h"
#include "proxy/log/session_log.h"
#include "proxy/http1/rule_outcome.h"

static uint64_t
now_ms(const struct session *s)
{
	return loop_now_ms(s->engine->loop);
}

/* The server ended or failed before that. */
static void
no_answer(struct session *s)
{
	if (l7_retry_after_loss(s, CLIENT) ||
		(!s->dir[SERVER].bytes && l7_retry_for(s, HTTP_RETRY_EMPTY_RESPONSE)) ||
		(s->dir[SERVER].bytes && l7_retry_for(s, HTTP_RETRY_JUNK_RESPONSE)))
		return;
	http_count_bad_response(s);
	exchange_fail(s, 502, 'S', 'H');
}

unsigned int
response_late(struct session *s, int side)
{
	if (side == CLIENT) {
		counter_add(&fe_stat(s)->failed_req, 1);
		s->txn->keep_alive[CLIENT] = 0;
		return 408;
	}
	if (l7_retry_for(s, HTTP_RETRY_RESPONSE_TIMEOUT))
		return 0;
	http_count_bad_response(s);
	return 504;
}

/* An informational response goes on to the client (RFC 9110, 15.2), one of 1.0 has never heard of
 * them. -1: it cannot be written. */
static int
pass_interim(struct session *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct direction *h = &s->dir[SERVER];

	h->head = h->tail = h->tail + (uint32_t)used;
	h->lookahead -= (uint32_t)used;
	memset(&t->parser[SERVER], 0, sizeof(t->parser[SERVER]));
	if (t->version != HTTP_1_0) {
		if (http_strip_named(&t->res) < 0)
			return -1;
		(void)http_strip_hop(&t->res);
		if (http_place_response(s, h->tail) < 0)
			return -1;
	}
	http_head_init(&t->res, HTTP_RESPONSE, t->res.field, s->engine->maxhdr);
	return direction_flush(s, SERVER);
}

/* No message any more, but bytes both ways: after 101, or a CONNECT that was granted. -1: nobody
 * has asked for that, or the request is not over. */
static int
open_tunnel(struct session *s)
{
	struct http_txn *t = s->txn;
	struct direction *h = &s->dir[CLIENT];

	if (h->state != DIRECTION_DONE || (t->method != HTTP_CONNECT && !t->upgrades))
		return -1;
	direction_event(s, CLIENT, DIRECTION_EV_RESET);
	t->body[CLIENT].framing = HTTP_BODY_TUNNEL;
	/* What the client said ahead is for the other end of the tunnel. */
	h->tail += h->lookahead;
	h->lookahead = 0;
	t->keep_alive[CLIENT] = t->keep_alive[SERVER] = 0;
	return 0;
}

/* Whether the connections go on after it, and how its body reaches an old client. */
static void
decide(struct session *s)
{
	struct http_txn *t = s->txn;
	struct http_body *b = &t->body[SERVER];

	if (!http_persists(&t->res) || b->framing == HTTP_BODY_CLOSE ||
		b->framing == HTTP_BODY_TUNNEL)
		t->keep_alive[SERVER] = 0;
	if (b->framing == HTTP_BODY_CLOSE || b->framing == HTTP_BODY_TUNNEL)
		t->keep_alive[CLIENT] = 0;
	if (t->version != HTTP_1_0)
		return;
	/* Without a body too, as to HEAD (RFC 9112, 6.1). */
	(void)http_drop_all(&t->res, str_of(http_field_name(HTTP_F_TRANSFER_ENCODING)));
	(void)http_drop_all(&t->res, str_of(http_field_name(HTTP_F_TRAILER)));
	if (b->framing == HTTP_BODY_CHUNKED) {
		t->dechunks = 1;
		t->keep_alive[CLIENT] = 0;
	}
}

static void
bad_answer(struct session *s)
{
	http_count_bad_response(s);
	if (!l7_retry_for(s, HTTP_RETRY_JUNK_RESPONSE))
		exchange_fail(s, 502, 'P', 'H');
}

/* The server has answered: the request is not sent again. */
static void
forget_copy(struct session *s)
{
	struct direction *h = &s->dir[CLIENT];

	h->resend = 0;
	if (h->buf && !h->lookahead && !direction_pending(h))
		direction_buf_free(s->engine, h);
}

/* --- rules --- */

static int
has_rules(const struct proxy *p)
{
	return (int)(p->rules.has &
		(RULE_IN(TCP_RES_CONTENT) | RULE_IN(HTTP_RESPONSE) |
			RULE_IN(HTTP_AFTER_RESPONSE)));
}

/* What a rule has ended. */
static void
carry_out(struct session *s, const struct rule_outcome *v)
{
	rule_outcome_blame(s, v, v->what == RULE_END_REJECT ? 'D' : 'H');
	if (v->what != RULE_END_REPLY && v->what != RULE_END_ERROR)
		rule_outcome_count_denied(s, SERVER);
	if (v->what == RULE_END_DROP)
		silent_drop_on_close(s->engine->sys, s->conn[CLIENT].fd);
	if (v->what == RULE_END_DROP || v->what == RULE_END_REJECT) {
		s->txn->aborts = 1;
		return;
	}
	rule_outcome_reply(s, v);
}

/* 0, or -1: a rule has ended it. */
static int
passes(struct session *s, const struct proxy *px, unsigned int list, struct eval *look)
{
	struct rule_outcome v = { .head = rule_outcome_head(s) };
	struct rules_at at = { 0 };

	if (!proxy_has_rules(&px->rules, list) ||
		rule_outcome_run(s, px, list, &at, look, &v) != RULE_FINAL)
		return 0;
	s->txn->no_after = list == RULE_HTTP_AFTER_RESPONSE;
	carry_out(s, &v);
	return -1;
}

/* First those of the backend (manual, http-response). */
static int
run_rules(struct session *s)
{
	static const unsigned int lists[] = { RULE_TCP_RES_CONTENT, RULE_HTTP_RESPONSE,
		RULE_HTTP_AFTER_RESPONSE };
	struct eval look;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		/* Those of contents are a backend's. */
		int has_fe = s->be != s->fe && lists[i] != RULE_TCP_RES_CONTENT;

		if (lists[i] == RULE_HTTP_AFTER_RESPONSE)
			capture_cookie(s, &s->txn->res);
		eval_init(&look, s, rule_place_scope((enum rule_place)lists[i]));
		look.cx.req_ended = 1;
		look.cx.res_len = s->txn->parser[SERVER].at + s->dir[SERVER].lookahead;
		if (passes(s, s->be, lists[i], &look) < 0 ||
			(has_fe && passes(s, s->fe, lists[i], &look) < 0))
			return -1;
	}
	return 0;
}

/* --- the final one --- */

/* A rule wants the connection to be closed. */
static void
obey_close(struct http_txn *t)
{
	if (http_lists(&t->res, HTTP_F_CONNECTION, STR("close")))
		t->keep_alive[CLIENT] = 0;
	(void)http_drop_all(&t->res, str_of(http_field_name(HTTP_F_CONNECTION)));
}

/* 1: it is on its way; 0: an answer of our own takes its place. The texts that rules make are in
 * the arena until it is written. */
static int
place_final(struct session *s, uint32_t end)
{
	struct http_txn *t = s->txn;

	if (has_rules(s->be) || has_rules(s->fe)) {
		if (run_rules(s) < 0)
			return 0;
		if (!exchange_is_plain(s))
			obey_close(t);
	} else {
		capture_cookie(s, &t->res);
	}
	if (exchange_is_plain(s) && open_tunnel(s) < 0) {
		bad_answer(s);
		return 0;
	}
	t->status = t->res.status;
	if (http_place_response(s, end) == 0)
		return 1;
	exchange_fail(s, 502, 'P', 'H');
	return 0;
}

/* The final head is complete: it leaves with what there is of the body. */
static void
pass_final(struct session *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct direction *h = &s->dir[SERVER];
	uint32_t end = h->tail + (uint32_t)used;
	size_t mark;
	int placed;

	if (http_retries_status(s->be, t->res.status) && l7_retry_schedule(s))
		return;
	http_count_server(s);
	if (http_auth_binds_connection(&t->res))
		s->is_private = 1;
	t->res_version = t->res.version;
	t->has_res_version = 1;
	capture_fields(s, &t->res);
	http_txn_allow_added(s, &t->res);
	http_body_of_response(&t->body[SERVER], &t->res, t->method);
	decide(s);
	if (http_strip_named(&t->res) < 0) {
		bad_answer(s);
		return;
	}
	(void)http_strip_hop(&t->res);
	h->head = h->tail = end;
	h->lookahead -= (uint32_t)used;
	mark = arena_mark(&s->engine->eval.arena);
	placed = place_final(s, end);
	arena_release(&s->engine->eval.arena, mark);
	if (!placed)
		return;
	t->res_ms = now_ms(s);
	forget_copy(s);
	http_count_response(s);
	session_log_early(s);
	if (exchange_take_ahead(s, SERVER) < 0)
		exchange_is_bad(s, SERVER);
	exchange_foresee(s, SERVER);
	if (direction_flush(s, SERVER))
		direction_event(s, SERVER, DIRECTION_EV_EMPTY);
}

static void
move_ahead(struct session *s)
{
	struct direction *h = &s->dir[SERVER];

	memmove(h->buf + s->engine->maxrewrite, h->buf + h->tail, h->lookahead);
	h->head = h->tail = s->engine->maxrewrite;
}

/* What has come of the response, which may be several heads: 1 when more is worth a try. */
static int
parse_answer(struct session *s)
{
	struct http_txn *t = s->txn;
	struct direction *h = &s->dir[SERVER];
	size_t used;
	int r;

	while (h->lookahead) {
		switch (http_parse_response(
			&t->parser[SERVER], h->buf + h->tail, h->lookahead, &t->res, &used)) {
		case HTTP_MORE:
			if (h->tail + h->lookahead < s->engine->bufsize)
				return 1;
			bad_answer(s);
			return 0;
		case HTTP_BAD:
			bad_answer(s);
			return 0;
		case HTTP_COMPLETE:
			break;
		}
		if (t->res.status >= 200 || t->res.status == 101) {
			pass_final(s, used);
			return h->state == DIRECTION_OPEN && !direction_pending(h);
		}
		r = pass_interim(s, used);
		if (r < 0)
			bad_answer(s);
		if (r <= 0)
			return 0;
		if (h->lookahead)
			move_ahead(s);
	}
	return 1;
}

int
response_resume(struct session *s, int side)
{
	struct direction *h = &s->dir[side];

	if (!http_awaits_head(s, side) || !h->lookahead || s->txn->parser[SERVER].at ||
		direction_pending(h))
		return 0;
	move_ahead(s);
	(void)parse_answer(s);
	return 1;
}

/* The answer was looked for on trust: had it come? An end that is the message's would have been
 * told along with it. */
static void
learn(struct session *s, int came)
{
	if (!s->speculates_read)
		return;
	s->speculates_read = 0;
	server_note_quick(
		srv_shard(s, s->srv), came && s->txn->body[SERVER].framing != HTTP_BODY_CLOSE);
}

int
response_read(struct session *s)
{
	struct engine *e = s->engine;
	struct direction *h = &s->dir[SERVER];
	struct conn *src = &s->conn[SERVER];
	size_t got, at;
	int more;

	if (http_answer_is_due(s->txn) || s->txn->again)
		return 0;
	if (!h->buf) {
		if (!memory_has_buffer(e)) {
			exchange_wait_for_buffer(s, SERVER);
			return 0;
		}
		(void)direction_buf_get(e, h);
		h->head = h->tail = e->maxrewrite;
	}
	at = h->tail + h->lookahead;
	switch (conn_recv(src, h->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		learn(s, 0);
		if (!h->lookahead)
			direction_buf_free(e, h);
		return 0;
	case IO_EOF:
	case IO_ERR:
		no_answer(s);
		return 0;
	case IO_OK:
		break;
	}
	direction_count(s, SERVER, got);
	h->lookahead += (uint32_t)got;
	more = parse_answer(s);
	learn(s, 1);
	if (s->txn->again)
		return 0;
	if (!src->eof || h->state != DIRECTION_OPEN || http_answer_is_due(s->txn))
		return more;
	if (!http_awaits_head(s, SERVER))
		direction_source_ended(s, SERVER);
	else if (!h->lookahead || !direction_pending(h))
		no_answer(s);
	/* Else its answer may be there, behind an interim one: see response_resume(). */
	return 0;
}
