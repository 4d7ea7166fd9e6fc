/* The rows of show stat: the counters of a proxy or server, with HAProxy's columns. On the first
 * worker; others count meanwhile. */
#include "app/admin/stat_rows.h"

#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "net/addr.h"
#include "net/listener.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/check.h"
#include "proxy/model/persist_conf.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"

/* One bit each. */
enum stat_part {
	STAT_PART_COUNTERS = 1, /* sums of shards */
	STAT_PART_LOAD = 2,     /* what is there now, and limits */
	STAT_PART_STATE = 4,    /* of servers and checks */
	STAT_PART_IDLE = 8,     /* idle connections */
	STAT_PART_NAMES = 16,
	STAT_PARTS = 31
};

/* --- parts ----------------------------------------------------------------------------------- */

/* Parts of a row that a column of show stat needs. Pure. */

/* The part of a column; a column without one here needs all parts. */
static const uint8_t part_of[STAT_COLS + 1] = {
	[STAT_qmax] = STAT_PART_COUNTERS, [STAT_smax] = STAT_PART_COUNTERS,
	[STAT_stot] = STAT_PART_COUNTERS, [STAT_bin] = STAT_PART_COUNTERS,
	[STAT_bout] = STAT_PART_COUNTERS, [STAT_dresp] = STAT_PART_COUNTERS,
	[STAT_dreq] = STAT_PART_COUNTERS, [STAT_econ] = STAT_PART_COUNTERS,
	[STAT_eresp] = STAT_PART_COUNTERS, [STAT_wretr] = STAT_PART_COUNTERS,
	[STAT_wredis] = STAT_PART_COUNTERS, [STAT_lbtot] = STAT_PART_COUNTERS,
	[STAT_cli_abrt] = STAT_PART_COUNTERS, [STAT_srv_abrt] = STAT_PART_COUNTERS,
	[STAT_connect] = STAT_PART_COUNTERS, [STAT_reuse] = STAT_PART_COUNTERS,
	[STAT_ssl_sess] = STAT_PART_COUNTERS, [STAT_ssl_reused_sess] = STAT_PART_COUNTERS,
	[STAT_ssl_failed_handshake] = STAT_PART_COUNTERS,
	[STAT_wrew] = STAT_PART_COUNTERS, [STAT_req_tot] = STAT_PART_COUNTERS,
	[STAT_hrsp_1xx] = STAT_PART_COUNTERS, [STAT_lastsess] = STAT_PART_COUNTERS,
	[STAT_qtime] = STAT_PART_COUNTERS, [STAT_ctime] = STAT_PART_COUNTERS,
	[STAT_rtime] = STAT_PART_COUNTERS, [STAT_ttime] = STAT_PART_COUNTERS,
	[STAT_qtime_max] = STAT_PART_COUNTERS, [STAT_ctime_max] = STAT_PART_COUNTERS,
	[STAT_rtime_max] = STAT_PART_COUNTERS, [STAT_ttime_max] = STAT_PART_COUNTERS,
	[STAT_qcur] = STAT_PART_LOAD, [STAT_scur] = STAT_PART_LOAD, [STAT_slim] = STAT_PART_LOAD,
	[STAT_qlimit] = STAT_PART_LOAD, [STAT_rate] = STAT_PART_LOAD,
	[STAT_rate_max] = STAT_PART_COUNTERS, [STAT_eint] = STAT_PART_LOAD,
	[STAT_used_conn_cur] = STAT_PART_LOAD, [STAT_status] = STAT_PART_STATE,
	[STAT_weight] = STAT_PART_STATE, [STAT_uweight] = STAT_PART_STATE,
	[STAT_throttle] = STAT_PART_STATE, [STAT_act] = STAT_PART_STATE,
	[STAT_bck] = STAT_PART_STATE, [STAT_lastchg] = STAT_PART_STATE,
	[STAT_chkfail] = STAT_PART_STATE, [STAT_chkdown] = STAT_PART_STATE,
	[STAT_downtime] = STAT_PART_STATE, [STAT_check_status] = STAT_PART_STATE,
	[STAT_check_code] = STAT_PART_STATE, [STAT_check_duration] = STAT_PART_STATE,
	[STAT_srv_icur] = STAT_PART_IDLE, [STAT_idle_conn_cur] = STAT_PART_IDLE,
	[STAT_src_ilim] = STAT_PART_IDLE,
	[STAT_safe_conn_cur] = STAT_PART_IDLE, [STAT_need_conn_est] = STAT_PART_IDLE,
};

/* The parts that this column needs; for STAT_COLS: all. */
static unsigned int
stat_parts_of(enum stat_col only)
{
	return part_of[only] ? part_of[only] : STAT_PARTS;
}

/* --- checks ---------------------------------------------------------------------------------- */

/* Columns about servers and checks. On the first worker, which owns checks. */

/* The columns of one kind of check. */
struct check_cols {
	enum stat_col status, code, duration, desc, last, rise, fall, health;
};

static const struct check_cols health_cols = { STAT_check_status, STAT_check_code,
	STAT_check_duration, STAT_check_desc, STAT_last_chk, STAT_check_rise, STAT_check_fall,
	STAT_check_health };
static const struct check_cols agent_cols = { STAT_agent_status, STAT_agent_code,
	STAT_agent_duration, STAT_agent_desc, STAT_last_agt, STAT_agent_rise, STAT_agent_fall,
	STAT_agent_health };

static void
put_result(struct stat_row *r, const struct check *c, const struct check_cols *cols, char *status)
{
	int running = c->is_running;

	if (running)
		(void)snprintf(status, sizeof(((struct stat_texts *)NULL)->check_status), "* %s",
			check_status_code(c->status));
	stat_row_text(r, cols->status, running ? status : check_status_code(c->status));
	if (check_has_code(c))
		stat_row_int(r, cols->code, (uint32_t)c->code);
	if (check_has_duration(c))
		stat_row_int(r, cols->duration, c->duration_ms);
	stat_row_text(r, cols->desc, check_status_text(c->status));
	if (!running)
		stat_row_text(r, cols->last, c->info);
	stat_row_int(r, cols->rise, c->rise);
	stat_row_int(r, cols->fall, c->fall);
	stat_row_int(r, cols->health, c->health);
}

/* Prints the findings of servers with observe, and of those that track one. */
static void
put_observed(struct stat_row *r, const struct server *s)
{
	const struct server *from = s;

	while (from->track)
		from = from->track;
	if (from->check && from->check->enabled &&
		from->conf.check.observe != CHECK_OBSERVE_NONE)
		stat_row_int(r, STAT_hanafail, s->check ? (int64_t)s->check->observed_fails : 0);
}

static void
put_checks(struct stat_row *r, const struct server *s, struct stat_texts *texts, uint64_t now)
{
	const struct check *c = s->check;

	if (c && c->enabled) {
		stat_row_int(r, STAT_chkfail, (int64_t)c->fails);
		stat_row_int(r, STAT_chkdown, s->downs);
		stat_row_int(r, STAT_downtime, (int64_t)(server_down_ms(s, now) / 1000));
	}
	if (c && c->enabled && !(s->admin & SERVER_MAINT))
		put_result(r, c, &health_cols, texts->check_status);
	if (s->agent && s->agent->enabled)
		put_result(r, s->agent, &agent_cols, texts->agent_status);
}

/* Sets status, the counters and the last result of its checks, and what it tracks. */
static void
stat_put_server_state(struct stat_row *r, const struct server *s, struct stat_texts *texts,
	uint64_t now_ms)
{
	stat_row_text(r, STAT_status, server_status_text(s, texts->status));
	stat_row_int(r, STAT_lastchg, (int64_t)((now_ms - s->last_change_ms) / 1000));
	put_checks(r, s, texts, now_ms);
	put_observed(r, s);
	if (s->track) {
		(void)snprintf(texts->tracked, sizeof(texts->tracked), "%s/%s", s->track->be->name,
			s->track->name);
		stat_row_text(r, STAT_tracked, texts->tracked);
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

static uint64_t
stat_now_ms(const struct process *p)
{
	return loop_now_ms(process_loop(p));
}

static void
put_stat(struct stat_row *r, enum stat_col c, uint64_t n)
{
	stat_row_int(r, c, (int64_t)n);
}

static void
put_common(struct stat_row *r, const struct proxy *p, const char *svname, int type)
{
	stat_row_text(r, STAT_pxname, p->name);
	stat_row_text(r, STAT_svname, svname);
	put_stat(r, STAT_pid, 1);
	stat_row_int(r, STAT_iid, p->id);
	stat_row_int(r, STAT_type, type);
	stat_row_text(r, STAT_mode, p->mode == PROXY_HTTP ? "http" : "tcp");
	stat_row_text(r, STAT_separator, "-");
}

/* --- parts of a row --- */

/* The parts to make. Empties what will be read: with the counts of responses, all of them. */
static unsigned int
begin_row(struct stat_row *r, enum stat_col only)
{
	enum { ALIKE = STAT_hrsp_other - STAT_hrsp_1xx + 1 };

	unsigned int parts = stat_parts_of(only);

	if (parts == STAT_PARTS)
		memset(r, 0, sizeof(*r));
	else
		memset(&r->v[only], 0, MIN(ALIKE, STAT_COLS - (int)only) * sizeof(r->v[0]));
	return parts;
}

/* A counter of struct server_stat. */
struct plain_counter {
	enum stat_col col;
	size_t at;
};

#define OF_SERVER(c, field) { STAT_##c, offsetof(struct server_stat, field) }

static const struct plain_counter server_counters[] = {
	OF_SERVER(stot, cum_sess), OF_SERVER(bin, bytes_in), OF_SERVER(bout, bytes_out),
	OF_SERVER(dresp, denied_resp), OF_SERVER(econ, econ), OF_SERVER(eresp, eresp),
	OF_SERVER(wretr, wretr), OF_SERVER(wredis, wredis), OF_SERVER(lbtot, lbtot),
	OF_SERVER(cli_abrt, cli_abrt), OF_SERVER(srv_abrt, srv_abrt), OF_SERVER(connect, connect),
	OF_SERVER(reuse, reuse), OF_SERVER(wrew, failed_rewrites),
};

static uint64_t
counter_at(const void *stat, size_t at)
{
	const _Atomic uint64_t *n = (const void *)((const char *)stat + at);

	return counter_read(n);
}

/* The sum over workers and previous processes. */
static uint64_t
sum_counter(const struct server *s, size_t at)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < s->be->n_shards; i++)
		sum += counter_at(&s->shard[i].stat, at);
	for (unsigned int i = 0; i < s->past.n; i++) {
		const struct stat_span *span = &s->past.span[i];

		for (unsigned int k = 0; k < span->n; k++)
			sum += counter_at((const char *)span->first + k * span->stride, at);
	}
	return sum;
}

/* If it is one of these, only that counter is added up: 1. */
static int
put_one_counter(struct stat_row *r, const struct server *s, enum stat_col only)
{
	for (size_t i = 0; i < ARRAY_LEN(server_counters); i++) {
		if (server_counters[i].col != only)
			continue;
		put_stat(r, only, sum_counter(s, server_counters[i].at));
		return 1;
	}
	return 0;
}

/* --- columns --- */

static void
put_zeros(struct stat_row *r, enum stat_col from, enum stat_col to)
{
	for (int c = from; c <= (int)to; c++)
		put_stat(r, (enum stat_col)c, 0);
}

static void
put_handshakes(struct stat_row *r, const struct handshake_stat *st)
{
	put_stat(r, STAT_ssl_sess, st->full);
	put_stat(r, STAT_ssl_reused_sess, st->resumed);
	put_stat(r, STAT_ssl_failed_handshake, st->failed);
}

/* Responses by class; empty in mode tcp. */
static void
put_responses(struct stat_row *r, const struct proxy *p, const _Atomic uint64_t *hrsp)
{
	if (p->mode != PROXY_HTTP)
		return;
	for (int i = 1; i <= 5; i++)
		put_stat(r, (enum stat_col)(STAT_hrsp_1xx + i - 1), hrsp[i]);
	put_stat(r, STAT_hrsp_other, hrsp[0]);
}

static void
put_compression(struct stat_row *r, const struct proxy_stat *st)
{
	put_stat(r, STAT_comp_in, st->comp_in);
	put_stat(r, STAT_comp_out, st->comp_out);
	put_stat(r, STAT_comp_byp, st->comp_byp);
	put_stat(r, STAT_comp_rsp, st->comp_rsp);
}

/* Columns of mode http. */
static void
put_h1(struct stat_row *r, const struct proxy_stat *st, uint64_t conns, uint64_t streams,
	uint64_t cum_conns, uint64_t cum_streams)
{
	const struct h1_stat *h = &st->h1;

	put_stat(r, STAT_h1_open_connections, conns);
	put_stat(r, STAT_h1_open_streams, streams);
	put_stat(r, STAT_h1_total_connections, cum_conns);
	put_stat(r, STAT_h1_total_streams, cum_streams);
	put_stat(r, STAT_h1_bytes_in, h->in);
	put_stat(r, STAT_h1_bytes_out, h->out);
	put_stat(r, STAT_h1_spliced_bytes_in, h->spliced_in);
	put_stat(r, STAT_h1_spliced_bytes_out, h->spliced_out);
	put_stat(r, STAT_cache_lookups, st->cache_lookups);
	put_stat(r, STAT_cache_hits, st->cache_hits);
}

/* Numbers that are read one after the other may not fit together. */
static uint64_t
subtract_part(uint64_t all, uint64_t part)
{
	return all - MIN(all, part);
}

static void
put_h2(struct stat_row *r, const struct h2_stat *h)
{
	put_stat(r, STAT_h2_headers_rcvd, h->headers_rcvd);
	put_stat(r, STAT_h2_data_rcvd, h->data_rcvd);
	put_stat(r, STAT_h2_settings_rcvd, h->settings_rcvd);
	put_stat(r, STAT_h2_rst_stream_rcvd, h->rst_stream_rcvd);
	put_stat(r, STAT_h2_goaway_rcvd, h->goaway_rcvd);
	put_stat(r, STAT_h2_detected_conn_protocol_errors, h->conn_errors);
	put_stat(r, STAT_h2_detected_strm_protocol_errors, h->stream_errors);
	put_stat(r, STAT_h2_rst_stream_resp, h->rst_stream_resp);
	put_stat(r, STAT_h2_goaway_resp, h->goaway_resp);
	put_stat(r, STAT_h2_open_connections, h->open_connections);
	put_stat(r, STAT_h2_backend_open_streams, h->open_streams);
	put_stat(r, STAT_h2_total_connections, h->total_connections);
	put_stat(r, STAT_h2_backend_total_streams, h->total_streams);
}

static const char *
frontend_status(const struct proxy *p)
{
	static const char *const names[] = {
		[PROXY_LISTENS] = "OPEN", [PROXY_PAUSED] = "PAUSED", [PROXY_STOPPED] = "STOP"
	};

	return names[p->listening];
}

static unsigned int
frontend_limit(const struct proxy *fe, const struct process *p)
{
	if (fe->maxconn == PROXY_MAXCONN_NONE)
		return 0;
	return fe->maxconn ? (unsigned int)fe->maxconn : p->limits.maxconn;
}

void
stat_frontend_row(const struct process *process, const struct proxy *p, struct stat_row *r)
{
	uint64_t now = stat_now_ms(process);
	struct proxy_stat sum, *st = &sum;

	proxy_stat_sum(p, PROXY_FE, st);
	memset(r, 0, sizeof(*r));
	put_common(r, p, "FRONTEND", TYPE_FRONTEND);
	put_stat(r, STAT_scur, gate_count(&p->fe_gate));
	put_stat(r, STAT_smax, st->cur_max);
	put_stat(r, STAT_slim, frontend_limit(p, process));
	put_stat(r, STAT_stot, st->cum_sess);
	put_stat(r, STAT_bin, st->bytes_in);
	put_stat(r, STAT_bout, st->bytes_out);
	put_stat(r, STAT_dreq, st->denied_req);
	put_stat(r, STAT_dresp, st->denied_resp);
	put_stat(r, STAT_ereq, st->failed_req);
	stat_row_text(r, STAT_status, frontend_status(p));
	put_stat(r, STAT_sid, 0);
	put_stat(r, STAT_rate, freq_read(&st->sess_rate, now));
	put_stat(r, STAT_rate_lim, p->sess_limit.max);
	put_stat(r, STAT_rate_max, st->sess_rate.max);
	put_responses(r, p, st->hrsp);
	put_stat(r, STAT_req_rate, freq_read(&st->req_rate, now));
	put_stat(r, STAT_req_rate_max, st->req_rate.max);
	put_stat(r, STAT_req_tot, st->req_tot);
	put_compression(r, st);
	put_stat(r, STAT_conn_rate, freq_read(&st->conn_rate, now));
	put_stat(r, STAT_conn_rate_max, st->conn_rate.max);
	put_stat(r, STAT_conn_tot, st->cum_conn);
	if (p->mode == PROXY_HTTP)
		put_stat(r, STAT_intercepted, st->intercepted);
	put_stat(r, STAT_dcon, st->denied_conn);
	put_stat(r, STAT_dses, st->denied_sess);
	put_stat(r, STAT_wrew, st->failed_rewrites);
	put_stat(r, STAT_eint, 0);
	put_handshakes(r, &st->tls);
	put_zeros(r, STAT_ssl_failed_handshake + 1, (enum stat_col)(STAT_COLS - 1));
	if (p->mode == PROXY_HTTP)
		put_h1(r, st,
			subtract_part(gate_count(&p->fe_gate), st->h2.open_connections),
			st->h1.streams - st->h1.streams_over,
			subtract_part(st->cum_sess, st->h2.total_connections), st->h1.streams);
	put_h2(r, &st->h2);
}

/* HAProxy shows no path of a unix socket. */
static const char *
shown_address(const struct addr *a, char *buf)
{
	return addr_family(a) == AF_UNIX ? "unix" : addr_text(a, buf);
}

static const char *
listener_name(const struct listener *ln, struct stat_texts *texts)
{
	if (ln->bind->name)
		return ln->bind->name;
	(void)snprintf(texts->name, sizeof(texts->name), "sock-%d", ln->id);
	return texts->name;
}

static const char *
listener_status(const struct listener *ln)
{
	static const char *const names[] = { [LISTENER_LOAD_OPEN] = "OPEN",
		[LISTENER_LOAD_HELD] = "WAITING", [LISTENER_LOAD_FULL] = "FULL" };

	return names[listener_load(ln)];
}

/* As in HAProxy, stot is the number of connections. */
void
stat_listener_row(const struct proxy *p, const struct listener *ln, struct stat_row *r,
	struct stat_texts *texts)
{
	struct listener_stat sum, *st = &sum;

	listener_stat_sum(ln, st);
	memset(r, 0, sizeof(*r));
	put_common(r, p, listener_name(ln, texts), TYPE_LISTENER);
	put_stat(r, STAT_scur, st->cur);
	put_stat(r, STAT_smax, st->cur_max);
	stat_row_int(r, STAT_slim, ln->bind->maxconn);
	put_stat(r, STAT_stot, st->cum_conn);
	put_stat(r, STAT_bin, st->bytes_in);
	put_stat(r, STAT_bout, st->bytes_out);
	put_stat(r, STAT_dreq, st->denied_req);
	put_stat(r, STAT_dresp, st->denied_resp);
	put_stat(r, STAT_ereq, st->failed_req);
	stat_row_text(r, STAT_status, listener_status(ln));
	stat_row_int(r, STAT_sid, ln->id);
	stat_row_text(r, STAT_addr, shown_address(&ln->addr, texts->addr));
	put_stat(r, STAT_dcon, st->denied_conn);
	put_stat(r, STAT_dses, st->denied_sess);
	put_stat(r, STAT_wrew, st->failed_rewrites);
	put_stat(r, STAT_eint, 0);
	put_zeros(r, STAT_ssl_sess, STAT_ssl_failed_handshake);
}

/* Averages in ms. */
static void
put_times(struct stat_row *r, const struct stat_times *t)
{
	put_stat(r, STAT_qtime, t->qtime / t->n);
	put_stat(r, STAT_ctime, t->ctime / t->n);
	put_stat(r, STAT_rtime, t->rtime / t->n);
	put_stat(r, STAT_ttime, t->ttime / t->n);
	put_stat(r, STAT_qtime_max, t->qtime_max);
	put_stat(r, STAT_ctime_max, t->ctime_max);
	put_stat(r, STAT_rtime_max, t->rtime_max);
	put_stat(r, STAT_ttime_max, t->ttime_max);
}

static void
put_last_session(struct stat_row *r, uint64_t last_ms, uint64_t now)
{
	/* Another worker's clock may be slightly ahead. */
	stat_row_int(
		r, STAT_lastsess, last_ms ? (int64_t)((MAX(now, last_ms) - last_ms) / 1000) : -1);
}

/* The weight is that in use, of which a server that starts has a part. */
static void
put_weights(struct stat_row *r, const struct server *s)
{
	unsigned int all = (unsigned int)atomic_read(&s->uweight);

	put_stat(r, STAT_weight, server_shown_weight(s));
	put_stat(r, STAT_uweight, all);
	if (s->oper == SERVER_STARTING && server_is_usable(s))
		put_stat(r, STAT_throttle,
			(100 * server_eweight(s) + SERVER_WEIGHT_SCALE - 1) / SERVER_WEIGHT_SCALE /
				all);
}

static const char *
address_text(const struct server *s, char *buf)
{
	struct addr a;

	if (server_is_unresolved(s))
		return "";
	(void)addr_cell_get(&s->addr, &a);
	return shown_address(&a, buf);
}

static void
put_server_counters(struct stat_row *r, const struct server *s, uint64_t now)
{
	struct server_stat sum, *st = &sum;

	server_stat_sum(s, st);
	for (size_t i = 0; i < ARRAY_LEN(server_counters); i++)
		put_stat(r, server_counters[i].col, counter_at(st, server_counters[i].at));
	put_stat(r, STAT_qmax, st->queued_max);
	put_stat(r, STAT_smax, st->cur_max);
	put_stat(r, STAT_rate_max, st->rate_max);
	put_handshakes(r, &st->tls);
	put_responses(r, s->be, st->hrsp);
	if (s->be->mode == PROXY_HTTP)
		put_stat(r, STAT_req_tot, st->req_tot);
	put_last_session(r, st->last_sess_ms, now);
	put_times(r, &st->times);
}

static void
put_server_load(struct stat_row *r, const struct server *s, uint64_t now)
{
	put_stat(r, STAT_qcur, atomic_read(&s->queued));
	put_stat(r, STAT_scur, atomic_read(&s->cur));
	put_stat(r, STAT_used_conn_cur, atomic_read(&s->cur));
	if (s->conf.maxconn)
		stat_row_int(r, STAT_slim, s->conf.maxconn);
	if (s->conf.maxqueue)
		stat_row_int(r, STAT_qlimit, s->conf.maxqueue);
	put_stat(r, STAT_rate, freq_read(&s->sess_rate, now));
	put_stat(r, STAT_eint, 0);
}

static void
put_server_idle(struct stat_row *r, const struct server *s)
{
	unsigned int idle, safe;

	conn_pool_count(s, &idle, &safe);
	put_stat(r, STAT_srv_icur, idle);
	put_stat(r, STAT_idle_conn_cur, idle - safe);
	put_stat(r, STAT_safe_conn_cur, safe);
	if (s->conf.pool_max >= 0)
		stat_row_int(r, STAT_src_ilim, s->conf.pool_max);
	put_stat(r, STAT_need_conn_est, conn_pool_needed(s));
}

static void
put_server_names(struct stat_row *r, const struct server *s, struct stat_texts *texts)
{
	const char *cookie = server_cookie(s, texts->cookie);

	put_common(r, s->be, s->name, TYPE_SERVER);
	stat_row_int(r, STAT_sid, s->id);
	stat_row_text(r, STAT_addr, address_text(s, texts->addr));
	if (cookie)
		stat_row_text(r, STAT_cookie, cookie);
}

void
stat_server_row(const struct process *process, const struct server *s, enum stat_col only,
	struct stat_row *r, struct stat_texts *texts)
{
	unsigned int parts = begin_row(r, only);
	uint64_t now = stat_now_ms(process);

	if ((parts & STAT_PART_COUNTERS) && !put_one_counter(r, s, only))
		put_server_counters(r, s, now);
	if (parts & STAT_PART_LOAD)
		put_server_load(r, s, now);
	if (parts & STAT_PART_STATE) {
		stat_put_server_state(r, s, texts, now);
		put_weights(r, s);
		put_stat(r, STAT_act, !s->conf.backup);
		put_stat(r, STAT_bck, s->conf.backup != 0);
	}
	if (parts & STAT_PART_IDLE)
		put_server_idle(r, s);
	if (parts & STAT_PART_NAMES)
		put_server_names(r, s, texts);
}

static void
count_servers(const struct proxy *p, struct stat_row *r)
{
	uint64_t act = 0, bck = 0, part = 0, all = 0;

	list_each(it, &p->servers) {
		const struct server *s = list_entry(it, struct server, link);

		if (!server_is_usable(s))
			continue;
		*(s->conf.backup ? &bck : &act) += 1;
		if (!atomic_read(&s->in_group))
			continue;
		part += server_eweight(s);
		all += (uint64_t)s->uweight;
	}
	stat_row_text(r, STAT_status, act || bck || !p->n_servers ? "UP" : "DOWN");
	put_stat(r, STAT_weight, (part + SERVER_WEIGHT_SCALE - 1) / SERVER_WEIGHT_SCALE);
	put_stat(r, STAT_uweight, all);
	put_stat(r, STAT_act, act);
	put_stat(r, STAT_bck, bck);
}

/* Idle connections are open too. */
static void
put_backend_h1(struct stat_row *r, const struct proxy *p, const struct proxy_stat *st)
{
	uint64_t busy = 0, resting = 0;
	unsigned int idle, safe;

	list_each(it, &p->servers) {
		const struct server *s = list_entry(it, struct server, link);

		conn_pool_count(s, &idle, &safe);
		busy += atomic_read(&s->cur);
		resting += idle;
	}
	put_h1(r, st, busy + resting, busy, st->connect, st->connect + st->reuse);
}

/* Walks over its servers are left out where they are not needed: there may be thousands. */
void
stat_backend_row(const struct process *process, const struct proxy *p, enum stat_col only,
	struct stat_row *r)
{
	unsigned int parts = stat_parts_of(only);
	uint64_t now = stat_now_ms(process);
	struct proxy_stat sum, *st = &sum;

	proxy_stat_sum(p, PROXY_BE, st);
	memset(r, 0, sizeof(*r));
	put_common(r, p, "BACKEND", TYPE_BACKEND);
	if (parts & STAT_PART_STATE)
		count_servers(p, r);
	put_stat(r, STAT_qcur, atomic_read(&p->queued));
	put_stat(r, STAT_qmax, st->queued_max);
	put_stat(r, STAT_scur, atomic_read(&p->be_cur));
	put_stat(r, STAT_smax, st->cur_max);
	stat_row_int(r, STAT_slim, p->fullconn);
	put_stat(r, STAT_stot, st->cum_sess);
	put_stat(r, STAT_bin, st->bytes_in);
	put_stat(r, STAT_bout, st->bytes_out);
	put_stat(r, STAT_dreq, st->denied_req);
	put_stat(r, STAT_dresp, st->denied_resp);
	put_stat(r, STAT_econ, st->econ);
	put_stat(r, STAT_eresp, st->eresp);
	put_stat(r, STAT_wretr, st->wretr);
	put_stat(r, STAT_wredis, st->wredis);
	put_stat(r, STAT_chkdown, p->downs);
	put_stat(r, STAT_lastchg, (now - p->last_change_ms) / 1000);
	if (p->n_servers)
		put_stat(r, STAT_downtime,
			(p->down_ms + (proxy_usable_servers(p) ? 0 : now - p->down_since_ms)) /
				1000);
	put_stat(r, STAT_sid, 0);
	put_stat(r, STAT_lbtot, st->lbtot);
	put_stat(r, STAT_rate, freq_read(&p->be_rate, now));
	put_stat(r, STAT_rate_max, st->rate_max);
	put_stat(r, STAT_cli_abrt, st->cli_abrt);
	put_stat(r, STAT_srv_abrt, st->srv_abrt);
	put_compression(r, st);
	put_last_session(r, st->last_sess_ms, now);
	put_times(r, &st->times);
	put_responses(r, p, st->hrsp);
	if (p->mode == PROXY_HTTP)
		put_stat(r, STAT_req_tot, st->req_tot);
	stat_row_text(r, STAT_algo, balance_name(p->balance));
	if (p->persist.name)
		stat_row_text(r, STAT_cookie, p->persist.name);
	put_stat(r, STAT_wrew, st->failed_rewrites);
	put_stat(r, STAT_connect, st->connect);
	put_stat(r, STAT_reuse, st->reuse);
	put_stat(r, STAT_eint, 0);
	put_zeros(r, STAT_agg_server_status, STAT_agg_check_status);
	put_handshakes(r, &st->tls);
	put_zeros(r, STAT_ssl_failed_handshake + 1, (enum stat_col)(STAT_COLS - 1));
	if (p->mode == PROXY_HTTP && parts == STAT_PARTS)
		put_backend_h1(r, p, st);
	put_h2(r, &st->h2);
}

const char *
stat_type_name(enum stat_type type)
{
	static const char *const names[] = { [TYPE_FRONTEND] = "Frontend",
		[TYPE_BACKEND] = "Backend", [TYPE_SERVER] = "Server",
		[TYPE_LISTENER] = "Listener" };

	return names[type];
}

/* Positions count the columns before it. */
const struct field *
stat_field(enum stat_col c)
{
	static const struct field cols[STAT_COLS] = {
#define STAT_NAMED(id, text, tags, type, desc) \
	{ text, STAT_##id - (STAT_##id > STAT_separator), tags, type, desc },
#define STAT_COL(name, tags, type, desc) STAT_NAMED(name, #name, tags, type, desc)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	};

	return &cols[c];
}
