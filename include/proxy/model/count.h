/* The shards that a session counts in: those of its worker. Private to proxy. */
#ifndef TACIT_PROXY_MODEL_COUNT_H
#define TACIT_PROXY_MODEL_COUNT_H

#include "base/counter.h"
#include "proxy/model/session.h"

static inline struct proxy_stat *
fe_stat(const struct stream *s)
{
	return &s->sess->fe->shard[s->engine->index].fe;
}

static inline struct proxy_stat *
be_stat(const struct stream *s)
{
	return &s->be->shard[s->engine->index].be;
}

static inline struct server_shard *
srv_shard(const struct stream *s, struct server *srv)
{
	return &srv->shard[s->engine->index];
}

static inline struct server_stat *
srv_stat(const struct stream *s)
{
	return &srv_shard(s, s->srv)->stat;
}

/* Counts a handshake of TLS that has succeeded. */
void count_handshake(struct handshake_stat *st, const struct conn *c);

/* Counters that a frontend and the listener of the session have alike. */

static inline void
count_failed_req(const struct stream *s)
{
	counter_add(&fe_stat(s)->failed_req, 1);
	counter_add(&s->sess->listener->stat.failed_req, 1);
}

static inline void
count_denied_req(const struct stream *s)
{
	counter_add(&fe_stat(s)->denied_req, 1);
	counter_add(&s->sess->listener->stat.denied_req, 1);
}

static inline void
count_denied_resp(const struct stream *s)
{
	counter_add(&fe_stat(s)->denied_resp, 1);
	counter_add(&s->sess->listener->stat.denied_resp, 1);
}

/* Counts the backend of a session when it is chosen. */
static inline void
count_backend(struct proxy_stat *be)
{
	counter_add(&be->cum_sess, 1);
	counter_add(&be->cum_conn, 1);
}

#endif
