/* Counters of mode http, besides count.h. Private to proxy. */
#ifndef TACIT_PROXY_MODEL_HTTP_COUNT_H
#define TACIT_PROXY_MODEL_HTTP_COUNT_H

#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"

/* Index 1..5: 1xx..5xx, 0: all others. */
static inline unsigned int
http_status_class(unsigned int status)
{
	return status >= 100 && status < 600 ? status / 100 : 0;
}

/* NULL: no backend yet. */
static inline struct proxy_stat *
http_be_stat(const struct stream *s)
{
	struct proxy *be = stream_backend(s);

	return be ? &be->shard[s->engine->index].be : NULL;
}

/* Counts a request, valid or not. */
static inline void
http_count_request(struct stream *s)
{
	struct proxy_stat *fe = fe_stat(s);

	/* The first request of an upgraded session was counted when the session began. */
	if (!stream_upgraded_to(s))
		counter_add(&s->engine->stat.requests, 1);
	counter_add(&fe->req_tot, 1);
	freq_add(&fe->req_rate, loop_now_ms(s->engine->loop), 1);
	freq_raise(&fe->req_rate, freq_read(&fe->req_rate, loop_now_ms(s->engine->loop)));
}

/* Counts the response when its status is known: s->txn->status. */
static inline void
http_count_response(struct stream *s)
{
	unsigned int c = http_status_class(s->txn->status);
	struct proxy_stat *be = http_be_stat(s);

	counter_add(&fe_stat(s)->hrsp[c], 1);
	if (!be)
		return;
	counter_add(&be->hrsp[c], 1);
	counter_add(&be->req_tot, 1);
}

/* Counts a request that ends without a response or local reply. */
static inline void
http_count_unanswered(struct stream *s)
{
	const struct http_txn *t = s->txn;

	if (t && t->head_ms && !t->res_ms)
		http_count_response(s);
}

/* Counts the server's own response, whatever rules http-response do with it. */
static inline void
http_count_server(struct stream *s)
{
	counter_add(&srv_stat(s)->hrsp[http_status_class(s->txn->res.status)], 1);
	counter_add(&srv_stat(s)->req_tot, 1);
}

static inline void
http_count_bad_response(struct stream *s)
{
	counter_add(&be_stat(s)->eresp, 1);
	counter_add(&srv_stat(s)->eresp, 1);
}

#endif
