/* Transactions, out of the worker's pool. On the session's worker; a session without a request
 * has none. */
#include "proxy/model/http_txn.h"

#include <string.h>

#include "base/counter.h"
#include "base/mem.h"
#include "http/h1_framing.h"
#include "http/h1_message.h"
#include "http/h1_write.h"
#include "http/stored.h"
#include "proxy/model/count.h"
#include "proxy/model/memory.h"
#include "proxy/model/service.h"
#include "proxy/model/stream_extras.h"

/* Transactions kept for reuse. */
#define TXNS_KEPT 1024

static unsigned int
fields_of(const struct engine *e)
{
	return e->limits.maxhdr + HTTP_FIELDS_ADDED;
}

void
http_txn_pool_init(struct engine *e)
{
	size_t size = sizeof(struct http_txn) + 2 * fields_of(e) * sizeof(struct http_field) +
		SIDES * sizeof(struct h1_message) + e->limits.line_max;

	pool_init(&e->pools.txn, "http_txn", size, TXNS_KEPT);
}

struct http_txn *
http_txn_get(struct stream *s)
{
	struct engine *e = s->engine;
	struct http_txn *t = pool_get(&e->pools.txn);
	struct h1_message *h1;

	if (!t)
		return NULL;
	memory_watch(e);
	/* endpoints are large and have their own lengths, so they are not zeroed. */
	mem_clear(t, offsetof(struct http_txn, endpoints));
	h1 = (struct h1_message *)(void *)(t->field + 2 * fields_of(e));
	mem_clear(h1, SIDES * sizeof(*h1));
	t->h1[CLIENT] = h1;
	t->h1[SERVER] = h1 + 1;
	t->line = (char *)(h1 + SIDES);
	t->line_max = e->limits.line_max;
	t->endpoints.given[ENDPOINT_SRC].len = t->endpoints.given[ENDPOINT_DST].len = 0;
	http_head_init(&t->req, HTTP_REQUEST, t->field, e->limits.maxhdr);
	t->req.takes_old_content = e->takes_old_content;
	http_head_init(&t->res, HTTP_RESPONSE, t->field + fields_of(e), e->limits.maxhdr);
	vars_init(&t->vars);
	vars_init(&t->message_vars);
	t->began_ms = loop_now_ms(e->loop);
	t->began_wall_ns = loop_wall_ns(e->loop);
	t->idle_ms = t->began_ms - s->state_ms;
	s->txn = t;
	t->id = s->sess->requests++ && !s->is_carried ? engine_next_id(e) : s->id;
	return t;
}

struct http_txn *
http_txn_get_awaited(struct stream *s)
{
	struct http_txn *t = http_txn_get(s);

	if (!t)
		return NULL;
	t->is_awaited = 1;
	t->began_wall_ns -= t->idle_ms * 1000000u;
	t->began_ms = s->state_ms;
	t->idle_ms = 0;
	return t;
}

void
http_txn_drop_job(struct http_txn *t)
{
	if (t->job)
		service_drop(t->job);
	t->job = NULL;
}

void
http_txn_put(struct stream *s)
{
	struct engine *e = s->engine;

	if (!s->txn)
		return;
	counter_add(&fe_stat(s)->h1.streams_over, !s->txn->is_awaited && !s->is_carried);
	stream_extras_end(s);
	http_txn_drop_job(s->txn);
	mem_free(s->txn->sni);
	vars_fini(&s->txn->vars);
	vars_fini(&s->txn->message_vars);
	pool_put(&e->pools.txn, s->txn);
	s->txn = NULL;
	memory_watch(e);
}

void
http_txn_allow_added(struct stream *s, struct http_head *h)
{
	h->max = fields_of(s->engine);
}

int
http_stored_fits(struct str head, struct http_field *field, unsigned int max, size_t h1_max)
{
	char digits[2][HTTP_LENGTH_DIGITS];
	struct http_head h;

	http_head_init(&h, HTTP_RESPONSE, field, max);
	h.reason = STR("Not Modified");
	return http_stored_read(head, &h) == 0 &&
		http_set_length(&h, UINT64_MAX, digits[0]) == 0 &&
		http_add(&h, STR("Age"), http_length_text(UINT64_MAX, digits[1])) == 0 &&
		http_add_id(&h, HTTP_F_CONNECTION, STR("keep-alive")) == 0 && h1_size(&h) <= h1_max;
}

int
http_response_is_cut(const struct http_txn *t)
{
	const struct h1_body *b = &t->h1[SERVER]->body;

	return http_has_answer(t) && b->framing != HTTP_BODY_TUNNEL && !h1_body_is_over(b);
}
