#include "proxy/model/shard.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxies.h"

int
proxy_make_shards(struct proxy *p, unsigned int n)
{
	assert(n >= 1 && n <= ENGINES_MAX);
	p->n_shards = 0;
	mem_free(p->shard);
	p->shard = mem_zalloc_aligned(CACHE_LINE, n * sizeof(*p->shard));
	if (!p->shard)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < n; i++) {
		list_init(&p->shard[i].queue);
		list_init(&p->shard[i].granted);
	}
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		mem_free(s->shard);
		s->shard = mem_zalloc_aligned(CACHE_LINE, n * sizeof(*s->shard));
		if (!s->shard)
			return -ERR_NOMEM;
		for (unsigned int i = 0; i < n; i++)
			list_init(&s->shard[i].queue);
	}
	p->n_shards = n;
	return 0;
}

int
proxies_shard(struct proxies *ps, unsigned int n)
{
	list_each(it, &ps->all) {
		int r = proxy_make_shards(list_entry(it, struct proxy, link), n);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The sum over the last sessions: what the oldest had is not known, but its average share is. */
static void
slide(uint64_t *sum, uint64_t sessions, uint64_t ms)
{
	if (sessions > STAT_AVERAGE_OVER)
		*sum -= (*sum + STAT_AVERAGE_OVER - 1) / STAT_AVERAGE_OVER;
	*sum += ms;
}

void
stat_count_times(struct stat_times *t, uint64_t sessions, uint64_t q, uint64_t c, uint64_t all)
{
	slide(&t->qtime, sessions, q);
	slide(&t->ctime, sessions, c);
	slide(&t->ttime, sessions, all);
	t->qtime_max = MAX(t->qtime_max, q);
	t->ctime_max = MAX(t->ctime_max, c);
	t->ttime_max = MAX(t->ttime_max, all);
}

/* --- sums --- */

/* Each shard's average counts as much as the sessions that it runs over. */
static void
add_times(struct stat_times *sum, const struct stat_times *t, uint64_t sessions)
{
	sum->qtime += t->qtime;
	sum->ctime += t->ctime;
	sum->ttime += t->ttime;
	sum->qtime_max = MAX(sum->qtime_max, t->qtime_max);
	sum->ctime_max = MAX(sum->ctime_max, t->ctime_max);
	sum->ttime_max = MAX(sum->ttime_max, t->ttime_max);
	sum->n += MIN(sessions, (uint64_t)STAT_AVERAGE_OVER);
}

static void
add_classes(uint64_t *out, const uint64_t *in)
{
	for (int c = 0; c < 6; c++)
		out[c] += in[c];
}

void
server_stat_sum(const struct server *s, struct server_stat *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < s->be->n_shards; i++) {
		const struct server_stat *st = &s->shard[i].stat;

		out->cum_sess += st->cum_sess;
		out->bytes_in += st->bytes_in;
		out->bytes_out += st->bytes_out;
		out->econ += st->econ;
		out->eresp += st->eresp;
		out->wretr += st->wretr;
		out->wredis += st->wredis;
		out->cli_abrt += st->cli_abrt;
		out->srv_abrt += st->srv_abrt;
		out->connect += st->connect;
		out->reuse += st->reuse;
		out->lbtot += st->lbtot;
		out->failed_conns += st->failed_conns;
		out->denied_resp += st->denied_resp;
		out->failed_rewrites += st->failed_rewrites;
		out->req_tot += st->req_tot;
		add_classes(out->hrsp, st->hrsp);
		out->cur_max = MAX(out->cur_max, st->cur_max);
		out->queued_max = MAX(out->queued_max, st->queued_max);
		out->last_sess_ms = MAX(out->last_sess_ms, st->last_sess_ms);
		add_times(&out->times, &st->times, st->cum_sess);
	}
	out->times.n = MAX(out->times.n, (uint64_t)1);
}

static void
add_proxy_stat(struct proxy_stat *out, const struct proxy_stat *st)
{
	out->cum_conn += st->cum_conn;
	out->cum_sess += st->cum_sess;
	out->bytes_in += st->bytes_in;
	out->bytes_out += st->bytes_out;
	out->denied_req += st->denied_req;
	out->denied_conn += st->denied_conn;
	out->denied_sess += st->denied_sess;
	out->denied_resp += st->denied_resp;
	out->failed_req += st->failed_req;
	out->econ += st->econ;
	out->eresp += st->eresp;
	out->wretr += st->wretr;
	out->wredis += st->wredis;
	out->cli_abrt += st->cli_abrt;
	out->srv_abrt += st->srv_abrt;
	out->lbtot += st->lbtot;
	out->connect += st->connect;
	out->reuse += st->reuse;
	out->failed_conns += st->failed_conns;
	out->failed_rewrites += st->failed_rewrites;
	out->req_tot += st->req_tot;
	out->intercepted += st->intercepted;
	add_classes(out->hrsp, st->hrsp);
	out->cur_max = MAX(out->cur_max, st->cur_max);
	out->queued_max = MAX(out->queued_max, st->queued_max);
	out->last_sess_ms = MAX(out->last_sess_ms, st->last_sess_ms);
	add_times(&out->times, &st->times, st->cum_sess);
	freq_merge(&out->sess_rate, &st->sess_rate);
	freq_merge(&out->conn_rate, &st->conn_rate);
	freq_merge(&out->req_rate, &st->req_rate);
}

void
proxy_stat_sum(const struct proxy *p, unsigned int side, struct proxy_stat *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < p->n_shards; i++)
		add_proxy_stat(out, side == PROXY_FE ? &p->shard[i].fe : &p->shard[i].be);
	out->times.n = MAX(out->times.n, (uint64_t)1);
}
