/* Evaluation context of a session, and its scratch memory. One scratch per worker; it is empty
 * between evaluations. */
#include "proxy/sample/eval.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "http/h1_parse.h"
#include "http/h1_message.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"
#include "proxy/model/session.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/http_line.h"

/* Names used without a log sink. */
static const struct log_ident nobody = { .tag = "" };

/* Heads are available from their completion until they are written. */
static void
look_at_transaction(struct sample_ctx *cx, struct http_txn *t, unsigned int at)
{
	cx->txn = &t->vars;
	*(t->has_res_vars ? &cx->resv : &cx->reqv) = &t->message_vars;
	/* A blank follows it: it was not truncated. */
	if (t->line_len > t->line_method)
		cx->method = http_line_method(t);
	cx->is_proxied = t->is_proxied;
	if ((at & SAMPLE_AT_REQ) && t->head_ms && !t->placed)
		cx->req = &t->req;
	if ((at & SAMPLE_AT_RES) && t->res.status && !http_has_answer(t))
		cx->res = &t->res;
	else if ((at & SAMPLE_AT_END) && http_has_answer(t) && !t->local)
		cx->status = t->status;
}

/* In mode tcp a session is its own transaction, request and response: one set of variables holds
 * all of them, since ids include the scope. As in HAProxy those of scope res begin, and those of
 * scope req end, with the connection to the server. */
void
eval_init(struct eval *l, struct stream *s, unsigned int at)
{
	struct engine *e = s->engine;

	mem_clear(l, sizeof(*l));
	l->log.sys = e->sys;
	l->log.id = e->log ? &e->log->id : &nobody;
	l->log.wall = &e->eval.wall;
	l->log.now_ms = e->loop ? loop_now_ms(e->loop) : 0;
	l->cx.at = at;
	l->cx.stream = s;
	l->cx.log = &l->log;
	l->cx.sink = e->log;
	l->cx.proc = &e->shared->vars;
	l->cx.sess = &s->sess->vars;
	if (s->txn)
		look_at_transaction(&l->cx, s->txn, at);
	else if (s->sess->fe && !s->is_http)
		l->cx.txn = *(s->connected_ms ? &l->cx.resv : &l->cx.reqv) = &s->sess->vars;
	l->cx.arena = &e->eval.arena;
	l->cx.regex = e->eval.regex;
	l->cx.shortfalls = &e->eval.shortfalls;
	l->cx.where = s->sess->fe ? &s->sess->fe->where : NULL;
	l->cx.now_ms = l->log.now_ms;
	l->cx.wall_ns = e->loop ? loop_wall_ns(e->loop) : 0;
	l->cx.random = &e->eval.random;
	l->cx.sys = e->sys;
	l->cx.worker = e->index;
}

struct str
eval_received_body(const struct stream *s)
{
	const struct http_txn *t = s->txn;
	const char *p = s->dir[CLIENT].buf + t->head_end;
	size_t n = s->dir[CLIENT].tail - t->head_end, used, out = 0;
	struct h1_body body;
	char *to;

	if (!n || t->req.framing != HTTP_BODY_CHUNKED)
		return (struct str){ p, n };
	to = arena_get(&s->engine->eval.arena, n);
	h1_body_begin(&body, &t->req);
	/* Invalid data is rejected where it is parsed. */
	if (to)
		(void)!h1_body_decode(&body, to, p, n, &used, &out);
	return (struct str){ to, out };
}

int
eval_response_may_grow(const struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];
	const struct conn *src = s->conn[SERVER];

	return d->tail + d->lookahead < s->engine->bufsize && !src->eof && !src->err;
}

/* Returns the body. Invalid data is rejected by the code that waits for the body or sends it. */
struct sample_body
eval_response_body(const struct sample_ctx *cx)
{
	const struct stream *s = cx->stream;
	const struct direction *d = &s->dir[SERVER];
	const char *p = d->buf + d->tail;
	struct h1_body body = s->txn->h1[SERVER]->body;
	struct sample_body found = { .is_full = !eval_response_may_grow(s) };
	size_t used, n = d->lookahead;
	char *to;

	if (body.framing == HTTP_BODY_CHUNKED && n) {
		to = arena_get(cx->arena, n);
		found.content.p = to;
		if (to)
			(void)!h1_body_decode(&body, to, p, n, &used, &found.content.len);
	} else if (n) {
		found.content = (struct str){ p, (size_t)h1_body_take(&body, p, n) };
	}
	found.is_whole = body.framing == HTTP_BODY_TUNNEL || h1_body_is_over(&body);
	return found;
}

/* --- mode tcp -------------------------------------------------------------------------------- */

/*
 * A client's data for rules of mode tcp: the bytes that it has sent, and the HTTP request that
 * they may be. Runs on the session's worker.
 */

struct str
tcp_received(const struct stream *s)
{
	const struct direction *d = &s->dir[CLIENT];

	return (struct str){ d->buf ? d->buf + d->head : "", direction_buffered(d) };
}

/*
 * Rules of mode tcp may use HTTP request fetches (manual): the received data is parsed as a
 * request. Its fields need a transaction; without memory for one there is no request.
 */
static void
look_for_request(struct eval *eval, struct stream *s)
{
	struct engine *e = s->engine;
	struct str b = eval->cx.req_bytes;
	struct http_txn *t;

	if (!b.len || !memory_reserve(e, &e->pools.txn))
		return;
	t = pool_get(&e->pools.txn);
	if (!t)
		return;
	http_head_init(&t->req, HTTP_REQUEST, t->field, e->limits.maxhdr);
	switch (h1_peek_request(b.p, b.len, &t->req)) {
	case HTTP_COMPLETE:
		eval->cx.req = &t->req;
		eval->borrowed = t;
		return;
	case HTTP_BAD:
		eval->cx.req_not_http = 1;
		break;
	case HTTP_MORE:
		break;
	}
	pool_put(&e->pools.txn, t);
}

void
tcp_content_eval_init(struct eval *eval, struct stream *s, unsigned int at)
{
	eval_init(eval, s, at);
	eval->cx.req_bytes = tcp_received(s);
	eval->cx.req_ended = 1;
	if (eval->cx.req_bytes.len)
		look_for_request(eval, s);
}

void
tcp_content_eval_done(struct eval *eval, struct stream *s)
{
	if (eval->borrowed)
		pool_put(&s->engine->pools.txn, eval->borrowed);
	eval->borrowed = NULL;
}
