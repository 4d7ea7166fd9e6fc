/* One shard of counters per worker. Only its worker writes a shard; readers add them up. */
#include "proxy/model/shard.h"

#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxies.h"

void
server_clear_shards(struct server *s, unsigned int n)
{
	memset(s->shard, 0, n * sizeof(*s->shard));
	for (unsigned int i = 0; i < n; i++)
		session_queue_init(&s->shard[i].queue);
}

int
server_make_shards(struct server *s, unsigned int n)
{
	mem_free(s->shard);
	s->shard = mem_alloc_aligned(CACHE_LINE, n * sizeof(*s->shard));
	if (!s->shard)
		return -ERR_NOMEM;
	server_clear_shards(s, n);
	return 0;
}

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
		session_queue_init(&p->shard[i].queue);
		list_init(&p->shard[i].granted);
	}
	list_each(it, &p->servers) {
		if (server_make_shards(list_entry(it, struct server, link), n) < 0)
			return -ERR_NOMEM;
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

/* Sum over the last sessions: the oldest value is unknown, so its average share is subtracted. */
static void
slide_average(_Atomic uint64_t *sum, uint64_t sessions, uint64_t ms)
{
	uint64_t was = counter_read(sum);

	if (sessions > STAT_AVERAGE_OVER)
		was -= (was + STAT_AVERAGE_OVER - 1) / STAT_AVERAGE_OVER;
	counter_set(sum, was + ms);
}

void
stat_count_times(struct stat_times *t, uint64_t sessions, const struct session_times *one)
{
	slide_average(&t->qtime, sessions, one->q);
	slide_average(&t->ctime, sessions, one->c);
	slide_average(&t->rtime, sessions, one->r);
	slide_average(&t->ttime, sessions, one->t);
	counter_max(&t->qtime_max, one->q);
	counter_max(&t->ctime_max, one->c);
	counter_max(&t->rtime_max, one->r);
	counter_max(&t->ttime_max, one->t);
}

/* --- sums --- */

/* Each shard's average is weighted by the number of its sessions. */
static void
add_times(struct stat_times *sum, const struct stat_times *t, uint64_t sessions)
{
	counter_add(&sum->qtime, counter_read(&t->qtime));
	counter_add(&sum->ctime, counter_read(&t->ctime));
	counter_add(&sum->rtime, counter_read(&t->rtime));
	counter_add(&sum->ttime, counter_read(&t->ttime));
	counter_max(&sum->qtime_max, counter_read(&t->qtime_max));
	counter_max(&sum->ctime_max, counter_read(&t->ctime_max));
	counter_max(&sum->rtime_max, counter_read(&t->rtime_max));
	counter_max(&sum->ttime_max, counter_read(&t->ttime_max));
	counter_add(&sum->n, MIN(sessions, (uint64_t)STAT_AVERAGE_OVER));
}

static void
add_h1(struct h1_stat *sum, const struct h1_stat *h)
{
	counter_add(&sum->streams, counter_read(&h->streams));
	counter_add(&sum->streams_over, counter_read(&h->streams_over));
	counter_add(&sum->in, counter_read(&h->in));
	counter_add(&sum->out, counter_read(&h->out));
	counter_add(&sum->spliced_in, counter_read(&h->spliced_in));
	counter_add(&sum->spliced_out, counter_read(&h->spliced_out));
}

static void
add_classes(_Atomic uint64_t *out, const _Atomic uint64_t *in)
{
	for (int c = 0; c < 6; c++)
		counter_add(&out[c], counter_read(&in[c]));
}

void
server_stat_sum(const struct server *s, struct server_stat *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < s->be->n_shards; i++) {
		const struct server_stat *st = &s->shard[i].stat;

		counter_add(&out->cum_sess, counter_read(&st->cum_sess));
		counter_add(&out->bytes_in, counter_read(&st->bytes_in));
		counter_add(&out->bytes_out, counter_read(&st->bytes_out));
		counter_add(&out->econ, counter_read(&st->econ));
		counter_add(&out->eresp, counter_read(&st->eresp));
		counter_add(&out->wretr, counter_read(&st->wretr));
		counter_add(&out->wredis, counter_read(&st->wredis));
		counter_add(&out->cli_abrt, counter_read(&st->cli_abrt));
		counter_add(&out->srv_abrt, counter_read(&st->srv_abrt));
		counter_add(&out->connect, counter_read(&st->connect));
		counter_add(&out->reuse, counter_read(&st->reuse));
		counter_add(&out->lbtot, counter_read(&st->lbtot));
		counter_add(&out->failed_conns, counter_read(&st->failed_conns));
		counter_add(&out->denied_resp, counter_read(&st->denied_resp));
		counter_add(&out->failed_rewrites, counter_read(&st->failed_rewrites));
		counter_add(&out->req_tot, counter_read(&st->req_tot));
		add_classes(out->hrsp, st->hrsp);
		counter_max(&out->cur_max, counter_read(&st->cur_max));
		counter_max(&out->queued_max, counter_read(&st->queued_max));
		counter_max(&out->last_sess_ms, counter_read(&st->last_sess_ms));
		add_times(&out->times, &st->times, counter_read(&st->cum_sess));
	}
	counter_max(&out->times.n, (uint64_t)1);
}

static void
add_proxy_stat(struct proxy_stat *out, const struct proxy_stat *st)
{
	counter_add(&out->cum_conn, counter_read(&st->cum_conn));
	counter_add(&out->cum_sess, counter_read(&st->cum_sess));
	counter_add(&out->bytes_in, counter_read(&st->bytes_in));
	counter_add(&out->bytes_out, counter_read(&st->bytes_out));
	counter_add(&out->denied_req, counter_read(&st->denied_req));
	counter_add(&out->denied_conn, counter_read(&st->denied_conn));
	counter_add(&out->denied_sess, counter_read(&st->denied_sess));
	counter_add(&out->denied_resp, counter_read(&st->denied_resp));
	counter_add(&out->failed_req, counter_read(&st->failed_req));
	counter_add(&out->econ, counter_read(&st->econ));
	counter_add(&out->eresp, counter_read(&st->eresp));
	counter_add(&out->wretr, counter_read(&st->wretr));
	counter_add(&out->wredis, counter_read(&st->wredis));
	counter_add(&out->cli_abrt, counter_read(&st->cli_abrt));
	counter_add(&out->srv_abrt, counter_read(&st->srv_abrt));
	counter_add(&out->lbtot, counter_read(&st->lbtot));
	counter_add(&out->connect, counter_read(&st->connect));
	counter_add(&out->reuse, counter_read(&st->reuse));
	counter_add(&out->failed_conns, counter_read(&st->failed_conns));
	counter_add(&out->failed_rewrites, counter_read(&st->failed_rewrites));
	counter_add(&out->req_tot, counter_read(&st->req_tot));
	counter_add(&out->intercepted, counter_read(&st->intercepted));
	add_h1(&out->h1, &st->h1);
	add_classes(out->hrsp, st->hrsp);
	counter_max(&out->cur_max, counter_read(&st->cur_max));
	counter_max(&out->queued_max, counter_read(&st->queued_max));
	counter_max(&out->last_sess_ms, counter_read(&st->last_sess_ms));
	add_times(&out->times, &st->times, counter_read(&st->cum_sess));
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
	counter_max(&out->times.n, (uint64_t)1);
}
