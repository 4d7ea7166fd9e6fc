/* A client's data for rules of mode tcp: the bytes that it has sent, and the HTTP request that they
 * may be. Runs on the session's worker. */
#include "proxy/sample/tcp_eval.h"

#include "http/h1_parse.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"
#include "proxy/relay/direction.h"

struct str
tcp_received(const struct session *s)
{
	const struct direction *d = &s->dir[CLIENT];

	return (struct str){ d->buf ? d->buf + d->head : "", direction_buffered(d) };
}

/*
 * Rules of mode tcp may use HTTP request fetches (manual): the received data is parsed as a
 * request. Its fields need a transaction; without memory for one there is no request.
 */
static void
look_for_request(struct eval *eval, struct session *s)
{
	struct engine *e = s->engine;
	struct str b = eval->cx.req_bytes;
	struct http_txn *t;

	if (!b.len || !memory_reserve(e, &e->txn_pool))
		return;
	t = pool_get(&e->txn_pool);
	if (!t)
		return;
	http_head_init(&t->req, HTTP_REQUEST, t->field, e->maxhdr);
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
	pool_put(&e->txn_pool, t);
}

void
tcp_content_eval_init(struct eval *eval, struct session *s, unsigned int at)
{
	eval_init(eval, s, at);
	eval->cx.req_bytes = tcp_received(s);
	eval->cx.req_ended = 1;
	if (eval->cx.req_bytes.len)
		look_for_request(eval, s);
}

void
tcp_content_eval_done(struct eval *eval, struct session *s)
{
	if (eval->borrowed)
		pool_put(&s->engine->txn_pool, eval->borrowed);
	eval->borrowed = NULL;
}
