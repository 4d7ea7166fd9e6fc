/* Counters in shards: their layout, and their sums. */

#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "proxy/model/check.h"
#include "proxy/model/proxies.h"
#include "proxy/config/proxy_life.h"
#include "unit/test.h"

#define SHARDS 3

static struct proxies ps;
static struct proxy *px;
static struct server *srv;

static int
setup(void **st)
{
	(void)st;
	proxies_init(&ps);
	px = proxy_new("px", PROXY_FE | PROXY_BE);
	assert_non_null(px);
	list_append(&ps.all, &px->link);
	srv = server_new(px, "s", &px->default_server);
	assert_non_null(srv);
	list_append(&px->servers, &srv->link);
	assert_int_equal(proxies_shard(&ps, SHARDS), 0);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	proxies_fini(&ps);
	return 0;
}

static void
shards_share_no_cache_line(void **st)
{
	(void)st;
	assert_int_equal(px->n_shards, SHARDS);
	assert_int_equal(sizeof(struct proxy_shard) % CACHE_LINE, 0);
	assert_int_equal(sizeof(struct server_shard) % CACHE_LINE, 0);
	assert_int_equal((uintptr_t)px->shard % CACHE_LINE, 0);
	assert_int_equal((uintptr_t)srv->shard % CACHE_LINE, 0);
}

/* Gives each word of a shard a different value, so that a counter missing in a sum is noticed. */
static void
fill(uint64_t *words, size_t size, uint64_t first)
{
	for (size_t i = 0; i < size / sizeof(*words); i++)
		words[i] = first + i;
}

#define IS(field, value) assert_int_equal(sum.field, value)
#define ADDS(field) IS(field, 3 * (uint64_t)shard0.field + 300)
#define LAST(field) IS(field, (uint64_t)shard0.field + 200)

static void
a_servers_counters_are_added(void **st)
{
	struct server_stat sum, shard0;

	(void)st;
	for (unsigned int i = 0; i < SHARDS; i++)
		fill((uint64_t *)(void *)&srv->shard[i].stat,
			offsetof(struct server_stat, cur_max), 1000 + i * 100);
	shard0 = srv->shard[0].stat;
	server_stat_sum(srv, &sum);
	ADDS(cum_sess);
	ADDS(bytes_in);
	ADDS(bytes_out);
	ADDS(econ);
	ADDS(eresp);
	ADDS(wretr);
	ADDS(wredis);
	ADDS(cli_abrt);
	ADDS(srv_abrt);
	ADDS(connect);
	ADDS(reuse);
	ADDS(lbtot);
	ADDS(failed_conns);
}

static void
a_proxys_counters_are_added_separately(void **st)
{
	struct proxy_stat sum, shard0;

	(void)st;
	for (unsigned int i = 0; i < SHARDS; i++) {
		size_t size = offsetof(struct proxy_stat, cur_max);

		fill((uint64_t *)(void *)&px->shard[i].fe, size, 1000 + i * 100);
		fill((uint64_t *)(void *)&px->shard[i].be, size, 5000 + i * 100);
	}
	for (int side = 0; side < 2; side++) {
		shard0 = side ? px->shard[0].be : px->shard[0].fe;
		proxy_stat_sum(px, side ? PROXY_BE : PROXY_FE, &sum);
		ADDS(cum_conn);
		ADDS(cum_sess);
		ADDS(bytes_in);
		ADDS(bytes_out);
		ADDS(denied_req);
		ADDS(failed_req);
		ADDS(econ);
		ADDS(eresp);
		ADDS(wretr);
		ADDS(wredis);
		ADDS(cli_abrt);
		ADDS(srv_abrt);
		ADDS(lbtot);
		ADDS(connect);
		ADDS(reuse);
		ADDS(failed_conns);
	}
}

static void
maxima_and_last_times_are_the_largest(void **st)
{
	struct server_stat sum, shard0 = { 0 };

	(void)st;
	for (unsigned int i = 0; i < SHARDS; i++) {
		/* The maximum is in the middle one. */
		unsigned int v = i == 1 ? 200 : 100 * (i == 2);

		srv->shard[i].stat.cur_max = v;
		srv->shard[i].stat.queued_max = v;
		srv->shard[i].stat.last_sess_ms = v;
		srv->shard[i].stat.times.qtime_max = v;
		srv->shard[i].stat.times.ctime_max = v;
		srv->shard[i].stat.times.rtime_max = v;
		srv->shard[i].stat.times.ttime_max = v;
		px->shard[i].be.cur_max = px->shard[i].be.queued_max = v;
		px->shard[i].be.last_sess_ms = v;
	}
	server_stat_sum(srv, &sum);
	LAST(cur_max);
	LAST(queued_max);
	LAST(last_sess_ms);
	LAST(times.qtime_max);
	LAST(times.ctime_max);
	LAST(times.rtime_max);
	LAST(times.ttime_max);
	{
		struct proxy_stat both;

		proxy_stat_sum(px, PROXY_BE, &both);
		assert_int_equal(both.cur_max, 200);
		assert_int_equal(both.queued_max, 200);
		assert_int_equal(both.last_sess_ms, 200);
	}
}

static void
time_sessions(unsigned int shard, int n, uint64_t ms)
{
	struct server_stat *s = &srv->shard[shard].stat;

	for (int i = 0; i < n; i++)
		stat_times_count(&s->times, ++s->cum_sess,
			&(struct latency_times){ { 1000 * ms, 2000 * ms, 3000 * ms, 4000 * ms },
				.has = 0 });
}

/* 10 sessions of 100 ms and 30 of 20 ms are 40 ms on average, whichever worker had them. */
static void
averages_are_weighted(void **st)
{
	struct server_stat sum;

	(void)st;
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.n, 1);
	time_sessions(0, 10, 100);
	time_sessions(2, 30, 20);
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.n, 40);
	assert_int_equal(sum.times.qtime / sum.times.n, 40);
	assert_int_equal(sum.times.ctime / sum.times.n, 80);
	assert_int_equal(sum.times.rtime / sum.times.n, 120);
	assert_int_equal(sum.times.ttime / sum.times.n, 160);
	/* The past has a weight of at most STAT_AVERAGE_OVER sessions. */
	time_sessions(1, 50000, 10);
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.n, STAT_AVERAGE_OVER + 40);
	assert_in_range(sum.times.qtime / sum.times.n, 9, 12);
}

static void
rates_of_frontends_are_added(void **st)
{
	struct proxy_stat sum;

	(void)st;
	for (unsigned int i = 0; i < SHARDS; i++) {
		freq_add(&px->shard[i].fe.conn_rate, 5000, 10);
		freq_add(&px->shard[i].fe.sess_rate, 5000, 20);
	}
	proxy_stat_sum(px, PROXY_FE, &sum);
	assert_int_equal(freq_read(&sum.conn_rate, 5500), 30);
	assert_int_equal(freq_read(&sum.sess_rate, 5500), 60);
	proxy_stat_sum(px, PROXY_BE, &sum);
	assert_int_equal(freq_read(&sum.sess_rate, 5500), 0);
}

/* Previous processes: their counts are added and their maxima taken, unless those were cleared. */
static void
sums_include_previous_processes(void **st)
{
	static struct proxy_shard former[2];
	struct stat_span span = { &former->fe, sizeof(former[0]), 2, 0 };
	struct proxy_stat sum;

	(void)st;
	memset(former, 0, sizeof(former));
	for (int i = 0; i < 2; i++) {
		former[i].fe.hrsp[2] = 10;
		former[i].fe.cur_max = 5 + (unsigned int)i;
		former[i].fe.h1.streams = 7;
		former[i].fe.tls.failed = 4;
		former[i].fe.conn_rate = (struct freq){ .sec = 5, .cur = 100, .max = 100 };
	}
	px->shard[1].fe.hrsp[2] = 1;
	px->shard[1].fe.h1.streams = 3;
	px->shard[0].fe.tls.failed = 1;
	assert_int_equal(stat_past_add(&px->past[0], span), 0);
	for (int cleared = 0; cleared < 2; cleared++) {
		px->past[0].span[0].is_cleared = cleared;
		proxy_stat_sum(px, PROXY_FE, &sum);
		assert_int_equal(sum.hrsp[2], 21);
		assert_int_equal(sum.cur_max, cleared ? 0 : 6);
		assert_int_equal(sum.h1.streams, cleared ? 3 : 17);
		assert_int_equal(sum.tls.failed, cleared ? 1 : 9);
		assert_int_equal(sum.h1.streams - sum.h1.streams_over, 3);
		assert_int_equal(sum.conn_rate.max, cleared ? 0 : 100);
		/* The rates of the last second include them, too. */
		assert_int_equal(freq_read(&sum.conn_rate, 5500), 200);
	}
	/* The previous process counts on. */
	former[0].fe.hrsp[2]++;
	proxy_stat_sum(px, PROXY_FE, &sum);
	assert_int_equal(sum.hrsp[2], 22);
	proxy_stat_sum(px, PROXY_BE, &sum);
	assert_int_equal(sum.hrsp[2], 0);
	proxy_clear_stat(px, 1);
	proxy_stat_sum(px, PROXY_FE, &sum);
	assert_int_equal(sum.hrsp[2], 0);
}

/* Every counter of a server, and of one side of a proxy, reaches a sum of previous ones. */
static void
no_counter_of_a_previous_process_is_missing(void **st)
{
	static struct server_stat row;
	static struct proxy_stat both;
	struct stat_span span = { &row, sizeof(row), 1, 0 };
	struct stat_span side = { &both, sizeof(both), 1, 0 };
	struct server_stat sum = { 0 };
	struct proxy_stat total = { 0 };

	(void)st;
	fill((uint64_t *)(void *)&row, sizeof(row), 1000);
	server_stat_add_span(&sum, &span);
	assert_memory_equal(&sum, &row, offsetof(struct server_stat, times));
	assert_memory_equal(&sum.times, &row.times, sizeof(sum.times));
	fill((uint64_t *)(void *)&both, offsetof(struct proxy_stat, sess_rate), 1000);
	proxy_stat_add_span(&total, &side);
	both.times = total.times;
	both.h1.streams_over = both.h1.streams;
	both.h2.open_streams = both.h2.open_connections = 0;
	assert_memory_equal(&total, &both, offsetof(struct proxy_stat, times));
}

static void
add_former(struct server_stat *base, const struct server_stat *row, unsigned int n)
{
	const struct stat_span span = { row, sizeof(*row), n, 0 };

	server_stat_add_span(base, &span);
}

/* Averages are of the last sessions, also where these are of several processes. */
static void
averages_continue_in_the_next_process(void **st)
{
	/* 100 sessions of 50 ms on two workers. */
	struct server_stat row[2] = { { .cum_sess = 40 }, { .cum_sess = 60 } };
	struct server_stat base = { 0 }, next = { 0 }, sum;
	struct stat_span span = { &base, sizeof(base), 1, 0 };

	(void)st;
	row[0].times.qtime = 40 * 50;
	row[1].times.qtime = 60 * 50;
	add_former(&base, row, 2);
	assert_int_equal(base.times.n, 100);
	assert_int_equal(stat_past_add(&srv->past, span), 0);
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.qtime / sum.times.n, 50);
	time_sessions(0, 300, 10);
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.n, 400);
	assert_int_equal(sum.times.qtime, 100 * 50 + 300 * 10);
	/* Only 24 of the previous ones are among the last ones, then none. */
	time_sessions(0, 700, 10);
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.n, STAT_AVERAGE_OVER);
	assert_int_equal(sum.times.qtime, 24 * 50 + 1000 * 10);
	time_sessions(1, 100, 10);
	server_stat_sum(srv, &sum);
	assert_int_equal(sum.times.qtime, 1100 * 10);
	/* A base of a base. */
	add_former(&next, &base, 1);
	add_former(&next, &srv->shard[1].stat, 1);
	assert_int_equal(next.times.n, 200);
	assert_int_equal(next.times.qtime, 100 * 50 + 100 * 10);
}

static void
fill_all(void)
{
	for (unsigned int i = 0; i < SHARDS; i++) {
		struct proxy_shard *s = &px->shard[i];

		fill((uint64_t *)(void *)&s->fe, sizeof(s->fe), 1000);
		fill((uint64_t *)(void *)&s->be, sizeof(s->be), 2000);
		fill((uint64_t *)(void *)&srv->shard[i].stat, sizeof(srv->shard[i].stat), 3000);
		s->fe.h1.streams = 12;
		s->fe.h1.streams_over = 5;
	}
	px->be_rate.max = srv->sess_rate.max = srv->downs = 7;
}

static void
clearing_maxima_keeps_counters(void **st)
{
	const struct proxy_stat *fe = &px->shard[1].fe;
	const struct server_stat *s = &srv->shard[2].stat;
	uint64_t sess, bytes, last;

	(void)st;
	fill_all();
	sess = fe->cum_sess;
	bytes = s->bytes_in;
	last = s->last_sess_ms;
	proxy_clear_stat(px, 0);
	assert_int_equal(fe->cur_max, 0);
	assert_int_equal(fe->rate_max, 0);
	assert_int_equal(fe->times.rtime_max, 0);
	assert_int_equal(fe->conn_rate.max, 0);
	assert_int_equal(fe->h1.in, 0);
	assert_int_equal(fe->tls.full, 0);
	assert_int_equal(s->tls.resumed, 0);
	assert_int_equal(s->queued_max, 0);
	assert_int_equal(s->rate_max, 0);
	assert_int_equal(px->be_rate.max, 0);
	assert_int_equal(srv->sess_rate.max, 0);
	assert_int_equal(fe->cum_sess, sess);
	assert_int_equal(s->bytes_in, bytes);
	assert_int_equal(s->last_sess_ms, last);
	assert_int_equal(srv->downs, 7);
}

/* Gauges, which are counted up and down, must not be lost. */
static void
clearing_all_keeps_gauges(void **st)
{
	static const struct server_stat none;
	const struct proxy_stat *fe = &px->shard[1].fe;
	struct check health = { .fails = 3, .observed_fails = 2 }, agent = health;
	uint32_t rate;

	(void)st;
	fill_all();
	rate = fe->conn_rate.cur;
	assert_int_not_equal(rate, 0);
	srv->check = &health;
	srv->agent = &agent;
	proxy_clear_stat(px, 1);
	srv->check = srv->agent = NULL;
	assert_int_equal(health.fails + health.observed_fails, 0);
	assert_int_equal(agent.fails + agent.observed_fails, 0);
	assert_int_equal(fe->cum_sess, 0);
	assert_int_equal(fe->last_sess_ms, 0);
	assert_int_equal(fe->h1.streams - fe->h1.streams_over, 7);
	assert_int_equal(fe->conn_rate.cur, rate);
	assert_int_equal(px->shard[0].be.hrsp[5], 0);
	assert_memory_equal(&srv->shard[0].stat, &none, sizeof(none));
	assert_int_equal(srv->downs, 0);
}

/* --- histograms of times: test_latency.c --- */

static void
count_one(struct latency_set *s, unsigned int worker, enum latency_kind k, uint64_t us)
{
	struct latency_times t = { .has = 0 };

	latency_set(&t, k, us);
	latency_count(s, worker, &t);
}

static void
count_everywhere(void)
{
	count_one(&srv->latency, 0, LATENCY_QUEUE, 10);
	count_one(&srv->latency, 2, LATENCY_QUEUE, 20);
	count_one(&px->latency[1], 0, LATENCY_CONNECT, 30);
	count_one(&px->latency[1], 1, LATENCY_CONNECT, 40);
	count_one(&px->latency[0], 1, LATENCY_TOTAL, 50);
}

static uint64_t
sum_of_proxy(unsigned int side, enum latency_kind k)
{
	struct latency sum;

	latency_sum(&px->latency[side == PROXY_BE], &sum);
	return sum.sum_us[k];
}

static uint64_t
sum_of_server(void)
{
	struct latency sum;

	latency_sum(&srv->latency, &sum);
	return sum.sum_us[LATENCY_QUEUE];
}

static void
times_are_added_and_allocated_by_their_workers(void **st)
{
	(void)st;
	assert_null(counter_read(&srv->latency.shard[0].counts));
	count_everywhere();
	assert_null(counter_read(&srv->latency.shard[1].counts));
	assert_null(counter_read(&px->latency[1].shard[2].counts));
	assert_int_equal(sum_of_server(), 30);
	assert_int_equal(sum_of_proxy(PROXY_BE, LATENCY_CONNECT), 70);
	assert_int_equal(sum_of_proxy(PROXY_BE, LATENCY_TOTAL), 0);
	assert_int_equal(sum_of_proxy(PROXY_FE, LATENCY_TOTAL), 50);
}

static void
only_clear_counters_all_clears_times(void **st)
{
	(void)st;
	count_everywhere();
	proxy_clear_stat(px, 0);
	assert_int_equal(sum_of_server(), 30);
	proxy_clear_stat(px, 1);
	assert_int_equal(sum_of_server(), 0);
	assert_int_equal(sum_of_proxy(PROXY_BE, LATENCY_CONNECT), 0);
	assert_int_equal(sum_of_proxy(PROXY_FE, LATENCY_TOTAL), 0);
	count_everywhere();
	assert_int_equal(sum_of_server(), 30);
}

/* The memory of a removed server is used for another one. */
static void
a_renewed_server_has_no_times(void **st)
{
	(void)st;
	count_everywhere();
	server_retire(srv);
	assert_int_equal(server_renew(srv, px, "t", &px->default_server), 0);
	assert_int_equal(sum_of_server(), 0);
	assert_null(counter_read(&srv->latency.shard[0].counts));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(shards_share_no_cache_line),
		CASE(a_servers_counters_are_added),
		CASE(a_proxys_counters_are_added_separately),
		CASE(maxima_and_last_times_are_the_largest),
		CASE(averages_are_weighted),
		CASE(sums_include_previous_processes),
		CASE(no_counter_of_a_previous_process_is_missing),
		CASE(averages_continue_in_the_next_process),
		CASE(rates_of_frontends_are_added),
		CASE(clearing_maxima_keeps_counters),
		CASE(clearing_all_keeps_gauges),
		CASE(times_are_added_and_allocated_by_their_workers),
		CASE(only_clear_counters_all_clears_times),
		CASE(a_renewed_server_has_no_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
