/* One shard of counters per worker. Only its worker writes a shard; readers add them up. */
#include "proxy/model/shard.h"

#include <stdint.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "proxy/model/latency.h"
#include "proxy/model/proxies.h"

void
server_clear_shards(struct server *s, unsigned int n)
{
	memset(s->shard, 0, n * sizeof(*s->shard));
	for (unsigned int i = 0; i < n; i++)
		stream_queue_init(&s->shard[i].queue);
}

static void
free_server_shards(struct server *s)
{
	if (!s->has_placed_shards)
		mem_free(s->shard);
	s->has_placed_shards = 0;
	s->shard = NULL;
}

int
server_make_shards(struct server *s, unsigned int n)
{
	free_server_shards(s);
	s->shard = mem_alloc_aligned(CACHE_LINE, n * sizeof(*s->shard));
	if (!s->shard)
		return -ERR_NOMEM;
	server_clear_shards(s, n);
	return latency_set_make(&s->latency, n);
}

static void
init_shards(struct proxy_shard *shard, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		stream_queue_init(&shard[i].queue);
		list_init(&shard[i].granted);
	}
}

void
server_place_shards(struct server *s, struct server_shard *at, unsigned int n)
{
	free_server_shards(s);
	s->shard = at;
	s->has_placed_shards = 1;
	server_clear_shards(s, n);
}

void
proxy_place_shards(struct proxy *p, struct proxy_shard *at)
{
	if (!p->has_placed_shards)
		mem_free(p->shard);
	p->shard = at;
	p->has_placed_shards = 1;
	init_shards(at, p->n_shards);
}

int
proxy_make_shards(struct proxy *p, unsigned int n)
{
	assert(n >= 1 && n <= ENGINES_MAX);
	p->n_shards = 0;
	if (!p->has_placed_shards)
		mem_free(p->shard);
	p->has_placed_shards = 0;
	p->shard = mem_zalloc_aligned(CACHE_LINE, n * sizeof(*p->shard));
	if (!p->shard)
		return -ERR_NOMEM;
	init_shards(p->shard, n);
	for (int side = 0; side < 2; side++)
		if (latency_set_make(&p->latency[side], n) < 0)
			return -ERR_NOMEM;
	list_each(it, &p->servers) {
		if (server_make_shards(list_entry(it, struct server, link), n) < 0)
			return -ERR_NOMEM;
	}
	if (p->dispatch && server_make_shards(p->dispatch, n) < 0)
		return -ERR_NOMEM;
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

/* --- times ----------------------------------------------------------------------------------- */

/* Averages and maxima of times. Only its worker writes those of a shard. */

/* Adds a time to the sum of the last sessions. The oldest value is unknown, so its average share is
 * subtracted. Where servers are near most times are below 1 ms. */
static inline void
count_time(_Atomic uint64_t *sum, _Atomic uint64_t *max, uint64_t sessions, uint64_t ms)
{
	uint64_t was = counter_read(sum);

	if (!(was | ms))
		return;
	if (sessions > STAT_AVERAGE_OVER)
		was -= (was + STAT_AVERAGE_OVER - 1) / STAT_AVERAGE_OVER;
	counter_set(sum, was + ms);
	counter_max(max, ms);
}

void
stat_times_count(struct stat_times *t, uint64_t sessions, const struct latency_times *one)
{
	count_time(&t->qtime, &t->qtime_max, sessions, one->us[LATENCY_QUEUE] / 1000);
	count_time(&t->ctime, &t->ctime_max, sessions, one->us[LATENCY_CONNECT] / 1000);
	count_time(&t->rtime, &t->rtime_max, sessions, one->us[LATENCY_RESPONSE] / 1000);
	count_time(&t->ttime, &t->ttime_max, sessions, one->us[LATENCY_TOTAL] / 1000);
}

/* Adds averages of the same time: of a shard that has counted so many sessions, or of a sum, which
 * has their number. Each session has the same weight. */
static void
stat_times_add(struct stat_times *sum, const struct stat_times *t, uint64_t sessions)
{
	uint64_t n = counter_read(&t->n);

	counter_add(&sum->qtime, counter_read(&t->qtime));
	counter_add(&sum->ctime, counter_read(&t->ctime));
	counter_add(&sum->rtime, counter_read(&t->rtime));
	counter_add(&sum->ttime, counter_read(&t->ttime));
	counter_add(&sum->n, n ? n : MIN(sessions, (uint64_t)STAT_AVERAGE_OVER));
}

static void
weigh_sum(_Atomic uint64_t *sum, double by)
{
	counter_set(sum, (uint64_t)((double)counter_read(sum) * by + 0.5));
}

/* Adds a sum of later sessions. Earlier ones count only as far as they are missing from
 * STAT_AVERAGE_OVER. */
static void
stat_times_follow(struct stat_times *sum, const struct stat_times *later)
{
	uint64_t n = counter_read(&later->n), was = counter_read(&sum->n);
	uint64_t room = n < STAT_AVERAGE_OVER ? STAT_AVERAGE_OVER - n : 0;

	if (was > room) {
		double by = (double)room / (double)was;

		weigh_sum(&sum->qtime, by);
		weigh_sum(&sum->ctime, by);
		weigh_sum(&sum->rtime, by);
		weigh_sum(&sum->ttime, by);
		counter_set(&sum->n, room);
	}
	stat_times_add(sum, later, n);
}

/* --- sums --- */

/* Each list has every counter of its structure. */
#define SERVER_COUNTS(X) \
	X(cum_sess) X(bytes_in) X(bytes_out) X(econ) X(eresp) X(wretr) X(wredis) X(cli_abrt) \
	X(srv_abrt) X(connect) X(reuse) X(lbtot) X(failed_conns) X(denied_resp) \
	X(failed_rewrites) X(req_tot) X(hrsp[0]) X(hrsp[1]) X(hrsp[2]) X(hrsp[3]) X(hrsp[4]) \
	X(hrsp[5]) X(tls.full) X(tls.resumed) X(tls.failed)
#define PROXY_COUNTS(X) \
	X(cum_conn) X(cum_sess) X(bytes_in) X(bytes_out) X(denied_req) X(failed_req) \
	X(denied_conn) X(denied_sess) X(denied_resp) X(econ) X(eresp) X(wretr) X(wredis) \
	X(cli_abrt) X(srv_abrt) X(lbtot) X(connect) X(reuse) X(failed_conns) X(failed_rewrites) \
	X(comp_in) X(comp_out) X(comp_byp) X(comp_rsp) X(cache_lookups) X(cache_hits) \
	X(req_tot) X(intercepted) X(hrsp[0]) X(hrsp[1]) X(hrsp[2]) X(hrsp[3]) X(hrsp[4]) \
	X(hrsp[5]) X(h1.streams) X(h1.streams_over) X(h1.in) X(h1.out) X(h1.spliced_in) \
	X(h1.spliced_out) X(h2.headers_rcvd) X(h2.data_rcvd) X(h2.settings_rcvd) \
	X(h2.rst_stream_rcvd) X(h2.goaway_rcvd) X(h2.conn_errors) X(h2.stream_errors) \
	X(h2.rst_stream_resp) X(h2.goaway_resp) X(h2.open_streams) X(h2.total_streams) \
	X(h2.open_connections) X(h2.total_connections) X(tls.full) X(tls.resumed) X(tls.failed)
#define MAXIMA(X) \
	X(cur_max) X(queued_max) X(rate_max) X(last_sess_ms) X(times.qtime_max) \
	X(times.ctime_max) X(times.rtime_max) X(times.ttime_max)

#define ADD(f) counter_add(&out->f, counter_read(&st->f));
#define RAISE(f) counter_max(&out->f, counter_read(&st->f));

/* The previous one may be cleared. */
static void
merge_past_rate(struct freq *sum, const struct freq *f, int is_cleared)
{
	uint32_t max = sum->max;

	freq_merge(sum, f);
	if (is_cleared)
		sum->max = max;
}

static void
add_server_stat(struct server_stat *out, const struct server_stat *st)
{
	SERVER_COUNTS(ADD)
}

static void
raise_server_stat(struct server_stat *out, const struct server_stat *st)
{
	MAXIMA(RAISE)
}

static void
add_proxy_stat(struct proxy_stat *out, const struct proxy_stat *st)
{
	PROXY_COUNTS(ADD)
}

static void
raise_proxy_stat(struct proxy_stat *out, const struct proxy_stat *st)
{
	MAXIMA(RAISE)
}

void
server_stat_add_span(struct server_stat *sum, const struct stat_span *span)
{
	struct handshake_stat before = sum->tls;
	const char *row = span->first;
	struct stat_times later = { 0 };

	for (unsigned int i = 0; i < span->n; i++, row += span->stride) {
		const struct server_stat *st = (const struct server_stat *)(const void *)row;

		add_server_stat(sum, st);
		stat_times_add(&later, &st->times, counter_read(&st->cum_sess));
		if (!span->is_cleared)
			raise_server_stat(sum, st);
	}
	stat_times_follow(&sum->times, &later);
	if (span->is_cleared)
		sum->tls = before;
}

/* The streams and connections of other processes are not open here. */
void
proxy_stat_add_span(struct proxy_stat *out, const struct stat_span *span)
{
	uint64_t open = out->h1.streams - out->h1.streams_over;
	struct handshake_stat tls_before = out->tls;
	struct h1_stat before = out->h1;
	struct h2_stat h2_before = out->h2;
	struct stat_times later = { 0 };
	const char *row = span->first;

	for (unsigned int i = 0; i < span->n; i++, row += span->stride) {
		const struct proxy_stat *st = (const struct proxy_stat *)(const void *)row;

		add_proxy_stat(out, st);
		stat_times_add(&later, &st->times, counter_read(&st->cum_sess));
		merge_past_rate(&out->sess_rate, &st->sess_rate, span->is_cleared);
		merge_past_rate(&out->conn_rate, &st->conn_rate, span->is_cleared);
		merge_past_rate(&out->req_rate, &st->req_rate, span->is_cleared);
		if (!span->is_cleared)
			raise_proxy_stat(out, st);
	}
	stat_times_follow(&out->times, &later);
	if (span->is_cleared) {
		out->h1 = before;
		out->h2 = h2_before;
		out->tls = tls_before;
	}
	out->h1.streams_over = out->h1.streams - open;
	out->h2.open_streams = h2_before.open_streams;
	out->h2.open_connections = h2_before.open_connections;
}

void
server_stat_sum(const struct server *s, struct server_stat *out)
{
	struct stat_times now = { 0 };

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < s->past.n; i++)
		server_stat_add_span(out, &s->past.span[i]);
	for (unsigned int i = 0; i < s->be->n_shards; i++) {
		const struct server_stat *st = &s->shard[i].stat;

		add_server_stat(out, st);
		raise_server_stat(out, st);
		stat_times_add(&now, &st->times, counter_read(&st->cum_sess));
	}
	stat_times_follow(&out->times, &now);
	counter_max(&out->times.n, (uint64_t)1);
}

void
proxy_stat_sum(const struct proxy *p, unsigned int side, struct proxy_stat *out)
{
	const struct stat_past *past = &p->past[side == PROXY_BE];
	struct stat_times now = { 0 };

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < past->n; i++)
		proxy_stat_add_span(out, &past->span[i]);
	for (unsigned int i = 0; i < p->n_shards; i++) {
		const struct proxy_stat *st = side == PROXY_FE ? &p->shard[i].fe : &p->shard[i].be;

		add_proxy_stat(out, st);
		raise_proxy_stat(out, st);
		stat_times_add(&now, &st->times, counter_read(&st->cum_sess));
		freq_merge(&out->sess_rate, &st->sess_rate);
		freq_merge(&out->conn_rate, &st->conn_rate);
		freq_merge(&out->req_rate, &st->req_rate);
	}
	stat_times_follow(&out->times, &now);
	counter_max(&out->times.n, (uint64_t)1);
}

/* --- counters of previous processes --- */

int
stat_past_add(struct stat_past *past, struct stat_span span)
{
	struct stat_span *v = mem_resize(past->span, past->n + 1, sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	past->span = v;
	v[past->n++] = span;
	return 0;
}

void
stat_past_fini(struct stat_past *past)
{
	mem_free(past->span);
	*past = (struct stat_past){ 0 };
}

uint32_t
shard_layout(void)
{
	static const struct {
		const char *name;
		size_t at;
	} field[] = {
#define IN_SERVER(f) { #f, offsetof(struct server_stat, f) },
#define IN_PROXY(f) { #f, offsetof(struct proxy_stat, f) },
		SERVER_COUNTS(IN_SERVER) MAXIMA(IN_SERVER)
		PROXY_COUNTS(IN_PROXY) MAXIMA(IN_PROXY)
		IN_PROXY(sess_rate.max) IN_PROXY(conn_rate.max) IN_PROXY(req_rate.max)
	};
	static const size_t size[] = { sizeof(struct server_shard), sizeof(struct proxy_shard),
		offsetof(struct server_shard, stat), offsetof(struct proxy_shard, fe),
		offsetof(struct proxy_shard, be) };
	uint32_t h = hash_crc32c(0, size, sizeof(size));

	for (size_t i = 0; i < ARRAY_LEN(field); i++) {
		h = hash_crc32c(h, field[i].name, strlen(field[i].name));
		h = hash_crc32c(h, &field[i].at, sizeof(field[i].at));
	}
	return h;
}
