/* The rows of show stat: the counters of every proxy and server, with HAProxy's columns. On the
 * first worker; others count meanwhile. */
#include <string.h>

#include "app/admin/admin_stat.h"
#include "app/admin/stat_forms.h"
#include "app/process/process.h"
#include "base/atomic.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/conn_pool.h"

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
	memset(r, 0, sizeof(*r));
	stat_row_text(r, STAT_pxname, p->name);
	stat_row_text(r, STAT_svname, svname);
	put_stat(r, STAT_pid, 1);
	stat_row_int(r, STAT_iid, p->id);
	stat_row_int(r, STAT_type, type);
	stat_row_text(r, STAT_mode, p->mode == PROXY_HTTP ? "http" : "tcp");
	stat_row_text(r, STAT_separator, "-");
}

static void
put_zeros(struct stat_row *r, enum stat_col from, enum stat_col to)
{
	for (int c = from; c <= (int)to; c++)
		put_stat(r, (enum stat_col)c, 0);
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

/* Columns of mode http; there is no cache. */
static void
put_h1(struct stat_row *r, const struct h1_stat *h, uint64_t conns, uint64_t streams,
	uint64_t cum_conns, uint64_t cum_streams)
{
	put_stat(r, STAT_h1_open_connections, conns);
	put_stat(r, STAT_h1_open_streams, streams);
	put_stat(r, STAT_h1_total_connections, cum_conns);
	put_stat(r, STAT_h1_total_streams, cum_streams);
	put_stat(r, STAT_h1_bytes_in, h->in);
	put_stat(r, STAT_h1_bytes_out, h->out);
	put_stat(r, STAT_h1_spliced_bytes_in, h->spliced_in);
	put_stat(r, STAT_h1_spliced_bytes_out, h->spliced_out);
	put_stat(r, STAT_cache_lookups, 0);
	put_stat(r, STAT_cache_hits, 0);
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

static void
frontend_row(const struct process *process, const struct proxy *p, struct stat_row *r)
{
	uint64_t now = stat_now_ms(process);
	struct proxy_stat sum, *st = &sum;

	proxy_stat_sum(p, PROXY_FE, st);
	put_common(r, p, "FRONTEND", TYPE_FRONTEND);
	put_stat(r, STAT_scur, atomic_read(&p->fe_gate.n));
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
	put_zeros(r, STAT_comp_in, STAT_comp_rsp);
	put_stat(r, STAT_conn_rate, freq_read(&st->conn_rate, now));
	put_stat(r, STAT_conn_rate_max, st->conn_rate.max);
	put_stat(r, STAT_conn_tot, st->cum_conn);
	if (p->mode == PROXY_HTTP)
		put_stat(r, STAT_intercepted, st->intercepted);
	put_stat(r, STAT_dcon, st->denied_conn);
	put_stat(r, STAT_dses, st->denied_sess);
	put_stat(r, STAT_wrew, st->failed_rewrites);
	put_stat(r, STAT_eint, 0);
	put_zeros(r, STAT_ssl_sess, (enum stat_col)(STAT_COLS - 1));
	if (p->mode == PROXY_HTTP)
		put_h1(r, &st->h1, atomic_read(&p->fe_gate.n), st->h1.streams - st->h1.streams_over,
			st->cum_sess, st->h1.streams);
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

/* Of a unix socket HAProxy shows no path. */
static const char *
address_text(const struct server *s, char *buf)
{
	struct addr a;

	if (server_is_unresolved(s))
		return "";
	(void)addr_cell_get(&s->addr, &a);
	return addr_family(&a) == AF_UNIX ? "unix" : addr_text(&a, buf);
}

static void
server_row(const struct process *process, const struct server *s, struct stat_row *r,
	struct stat_texts *texts)
{
	uint64_t now = stat_now_ms(process);
	struct server_stat sum, *st = &sum;
	const char *cookie = server_cookie(s, texts->cookie);
	unsigned int idle, safe;

	server_stat_sum(s, st);
	conn_pool_count(s, &idle, &safe);
	put_common(r, s->be, s->name, TYPE_SERVER);
	put_stat(r, STAT_qcur, atomic_read(&s->queued));
	put_stat(r, STAT_qmax, st->queued_max);
	put_stat(r, STAT_scur, atomic_read(&s->cur));
	put_stat(r, STAT_smax, st->cur_max);
	if (s->conf.maxconn)
		stat_row_int(r, STAT_slim, s->conf.maxconn);
	put_stat(r, STAT_stot, st->cum_sess);
	put_stat(r, STAT_bin, st->bytes_in);
	put_stat(r, STAT_bout, st->bytes_out);
	put_stat(r, STAT_dresp, st->denied_resp);
	put_stat(r, STAT_econ, st->econ);
	put_stat(r, STAT_eresp, st->eresp);
	put_stat(r, STAT_wretr, st->wretr);
	put_stat(r, STAT_wredis, st->wredis);
	stat_put_server_state(r, s, texts, now);
	put_weights(r, s);
	put_stat(r, STAT_act, !s->conf.backup);
	put_stat(r, STAT_bck, s->conf.backup != 0);
	if (s->conf.maxqueue)
		stat_row_int(r, STAT_qlimit, s->conf.maxqueue);
	put_responses(r, s->be, st->hrsp);
	if (s->be->mode == PROXY_HTTP)
		put_stat(r, STAT_req_tot, st->req_tot);
	stat_row_int(r, STAT_sid, s->id);
	put_stat(r, STAT_lbtot, st->lbtot);
	put_stat(r, STAT_rate, freq_read(&s->sess_rate, now));
	put_stat(r, STAT_rate_max, st->rate_max);
	put_stat(r, STAT_cli_abrt, st->cli_abrt);
	put_stat(r, STAT_srv_abrt, st->srv_abrt);
	put_last_session(r, st->last_sess_ms, now);
	put_times(r, &st->times);
	stat_row_text(r, STAT_addr, address_text(s, texts->addr));
	if (cookie)
		stat_row_text(r, STAT_cookie, cookie);
	put_stat(r, STAT_connect, st->connect);
	put_stat(r, STAT_reuse, st->reuse);
	put_stat(r, STAT_wrew, st->failed_rewrites);
	put_stat(r, STAT_srv_icur, idle);
	put_stat(r, STAT_eint, 0);
	put_stat(r, STAT_idle_conn_cur, idle - safe);
	put_stat(r, STAT_safe_conn_cur, safe);
	put_stat(r, STAT_used_conn_cur, atomic_read(&s->cur));
	put_stat(r, STAT_need_conn_est, conn_pool_needed(s));
	put_zeros(r, STAT_ssl_sess, STAT_ssl_failed_handshake);
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
	put_h1(r, &st->h1, busy + resting, busy, st->connect, st->connect + st->reuse);
}

static void
backend_row(const struct process *process, const struct proxy *p, struct stat_row *r)
{
	uint64_t now = stat_now_ms(process);
	struct proxy_stat sum, *st = &sum;

	proxy_stat_sum(p, PROXY_BE, st);
	put_common(r, p, "BACKEND", TYPE_BACKEND);
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
	put_zeros(r, STAT_comp_in, STAT_comp_rsp);
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
	put_zeros(r, STAT_ssl_sess, (enum stat_col)(STAT_COLS - 1));
	if (p->mode == PROXY_HTTP)
		put_backend_h1(r, p, st);
}

static int
is_type_shown(const struct stat_args *a, int type, int sid)
{
	return (a->types < 0 || (a->types & type)) && (a->sid < 0 || a->sid == sid);
}

static int
is_server_wanted(const struct stat_args *a, const struct server *s)
{
	unsigned int admin = atomic_read(&s->admin);

	if (a->hide == STAT_HIDE_MAINT && (admin & SERVER_MAINT))
		return 0;
	if (a->hide == STAT_HIDE_DOWN && !server_is_running(s))
		return 0;
	return is_type_shown(a, ROW_SERVER, s->id);
}

static int
is_proxy_wanted(const struct stat_walk *w, const struct proxy *p)
{
	return !p->disabled && (w->args.iid < 0 || w->args.iid == p->id) &&
		(!w->shows || w->shows(p, w->arg));
}

/* --- all rows --- */

void
stat_walk_init(struct stat_walk *w, const struct process *p)
{
	*w = (struct stat_walk){
		.args = { .iid = -1, .types = -1, .sid = -1 }, .proxy = p->cfg->proxies.all.next
	};
}

static enum stat_step
next_frontend(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	w->is_past_frontend = 1;
	if (!(out->proxy->caps & PROXY_FE) || !is_type_shown(&w->args, ROW_FRONTEND, 0))
		return STAT_NOTHING;
	out->type = TYPE_FRONTEND;
	frontend_row(process, out->proxy, &out->row);
	return STAT_ITEM;
}

static enum stat_step
next_server(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	if (!is_server_wanted(&w->args, out->server))
		return STAT_NOTHING;
	out->type = TYPE_SERVER;
	server_row(process, out->server, &out->row, &out->texts);
	return STAT_ITEM;
}

static enum stat_step
next_backend(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	w->is_past_frontend = 0;
	w->server = (struct server_walk){ 0 };
	w->proxy = w->proxy->next;
	if (!(out->proxy->caps & PROXY_BE) || !is_type_shown(&w->args, ROW_BACKEND, 0))
		return STAT_NOTHING;
	out->type = TYPE_BACKEND;
	backend_row(process, out->proxy, &out->row);
	return STAT_ITEM;
}

enum stat_step
stat_walk_next(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	if (w->proxy == &process->cfg->proxies.all)
		return STAT_END;
	out->proxy = list_entry(w->proxy, struct proxy, link);
	out->server = NULL;
	if (!is_proxy_wanted(w, out->proxy)) {
		w->proxy = w->proxy->next;
		return STAT_NOTHING;
	}
	if (!w->is_past_frontend)
		return next_frontend(w, process, out);
	if (is_type_shown(&w->args, ROW_SERVER, w->args.sid))
		out->server = server_walk_next(out->proxy, &w->server);
	return out->server ? next_server(w, process, out) : next_backend(w, process, out);
}
