/* What mode http counts, beside count.h. Private to proxy. */
#ifndef TACIT_PROXY_HTTP_COUNT_H
#define TACIT_PROXY_HTTP_COUNT_H

#include "count.h"
#include "proxy/http_txn.h"

/* 1xx..5xx stand in 1..5, all others in 0. */
static inline unsigned int
http_class(unsigned int status)
{
	return status >= 100 && status < 600 ? status / 100 : 0;
}

/* NULL: it has no backend yet. */
static inline struct proxy_stat *
http_be_stat(const struct session *s)
{
	struct proxy *be = session_backend(s);

	return be ? &be->shard[s->engine->index].be : NULL;
}

/* A request has come, or what was to be one. */
static inline void
http_count_request(struct session *s)
{
	struct proxy_stat *fe = fe_stat(s);

	s->engine->requests++;
	fe->req_tot++;
	freq_add(&fe->req_rate, loop_now_ms(s->engine->loop), 1);
	freq_raise(&fe->req_rate, freq_read(&fe->req_rate, loop_now_ms(s->engine->loop)));
}

/* Its answer is known: s->txn->status. */
static inline void
http_count_response(struct session *s)
{
	unsigned int c = http_class(s->txn->status);
	struct proxy_stat *be = http_be_stat(s);

	fe_stat(s)->hrsp[c]++;
	if (!be)
		return;
	be->hrsp[c]++;
	be->req_tot++;
	if (s->srv && s->connected_ms && !s->txn->local) {
		srv_stat(s)->hrsp[c]++;
		srv_stat(s)->req_tot++;
	}
}

static inline void
http_count_bad_response(struct session *s)
{
	be_stat(s)->eresp++;
	srv_stat(s)->eresp++;
}

#endif
