/* Clears counters. On the first worker while the others are paused: shards belong to them
 * otherwise. Gauges keep their values. */
#include <string.h>

#include "base/counter.h"
#include "net/listener.h"
#include "proxy/model/check.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server_kept.h"
#include "proxy/model/shard.h"

static void
clear_time_maxima(struct stat_times *t)
{
	counter_set(&t->qtime_max, 0);
	counter_set(&t->ctime_max, 0);
	counter_set(&t->rtime_max, 0);
	counter_set(&t->ttime_max, 0);
}

/* The number of open streams is a difference of two counters. */
static void
clear_h1(struct h1_stat *h)
{
	uint64_t open = h->streams - h->streams_over;

	memset(h, 0, sizeof(*h));
	h->streams = open;
}

void
stat_clear_proxy(struct proxy_stat *st)
{
	counter_set(&st->cur_max, 0);
	counter_set(&st->queued_max, 0);
	counter_set(&st->rate_max, 0);
	clear_time_maxima(&st->times);
	st->sess_rate.max = st->conn_rate.max = st->req_rate.max = 0;
	clear_h1(&st->h1);
	memset(&st->tls, 0, sizeof(st->tls));
}

void
stat_clear_server(struct server_stat *st)
{
	counter_set(&st->cur_max, 0);
	counter_set(&st->queued_max, 0);
	counter_set(&st->rate_max, 0);
	clear_time_maxima(&st->times);
	memset(&st->tls, 0, sizeof(st->tls));
}

/* Rates remain. */
static void
clear_proxy_counters(struct proxy_stat *st)
{
	struct proxy_stat old = *st;

	memset(st, 0, sizeof(*st));
	st->h1.streams = old.h1.streams;
	st->sess_rate = old.sess_rate;
	st->conn_rate = old.conn_rate;
	st->req_rate = old.req_rate;
}

static void
clear_proxy_stat(struct proxy_stat *st, int all)
{
	stat_clear_proxy(st);
	if (all)
		clear_proxy_counters(st);
}

static void
clear_check(struct check *c)
{
	if (c)
		c->fails = c->observed_fails = 0;
}

/* Previous processes continue counting. */
static void
clear_past(struct stat_past *past, int all)
{
	for (unsigned int i = 0; i < past->n; i++)
		past->span[i].is_cleared = 1;
	if (all)
		past->n = 0;
}

static void
clear_server(struct server *s, int all)
{
	for (unsigned int i = 0; i < s->be->n_shards; i++) {
		struct server_stat *st = &s->shard[i].stat;

		stat_clear_server(st);
		if (all)
			memset(st, 0, sizeof(*st));
	}
	clear_past(&s->past, all);
	if (all)
		latency_set_clear(&s->latency);
	s->sess_rate.max = 0;
	if (!all)
		return;
	s->downs = 0;
	clear_check(s->check);
	clear_check(s->agent);
	server_note(s);
}

static void
clear_listeners(struct proxy *p, int all)
{
	for (struct listener *ln = proxy_next_listener(p, NULL); ln;
		ln = proxy_next_listener(p, ln))
		listener_clear_stat(ln, all);
}

void
proxy_clear_stat(struct proxy *p, int all)
{
	for (unsigned int i = 0; i < p->n_shards; i++) {
		clear_proxy_stat(&p->shard[i].fe, all);
		clear_proxy_stat(&p->shard[i].be, all);
	}
	clear_past(&p->past[0], all);
	clear_past(&p->past[1], all);
	for (int side = 0; all && side < 2; side++)
		latency_set_clear(&p->latency[side]);
	clear_listeners(p, all);
	p->be_rate.max = 0;
	list_each(it, &p->servers)
		clear_server(list_entry(it, struct server, link), all);
	proxy_note(p);
}
