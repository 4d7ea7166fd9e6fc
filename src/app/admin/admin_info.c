/* show info: the process in lines "Key: value", HAProxy's keys (management manual 9.3). */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/totals.h"
#include "app/config/version.h"

static void
add_u(struct sbuf *o, const char *key, uint64_t v)
{
	sbuf_addf(o, "%s: %llu\n", key, (unsigned long long)v);
}

static void
add_process(struct admin_conn *c, struct sbuf *o)
{
	const struct process *p = c->admin->process;
	uint64_t up = (admin_now_ms(c) - p->started_ms) / 1000;

	sbuf_addf(
		o, "Name: HAProxy\nVersion: %s\nRelease_date: %s\n", VERSION_COMPAT, VERSION_DATE);
	sbuf_addf(o, "Nbthread: %u\nNbproc: 1\nProcess_num: 1\n", p->n_workers);
	add_u(o, "Pid", (uint64_t)process_log(p)->id.pid);
	sbuf_addf(o, "Uptime: %llud %lluh%02llum%02llus\n", (unsigned long long)(up / 86400),
		  (unsigned long long)(up / 3600 % 24), (unsigned long long)(up / 60 % 60),
		  (unsigned long long)(up % 60));
	add_u(o, "Uptime_sec", up);
}

static void
add_pools(struct admin_conn *c, const struct totals *t, struct sbuf *o)
{
	add_u(o, "Memmax_MB", c->admin->process->cfg->global.memory >> 20);
	add_u(o, "PoolAlloc_MB", t->memory_used >> 20);
	add_u(o, "PoolUsed_MB", t->memory_live >> 20);
	add_u(o, "PoolFailed", t->pool_fails);
}

static void
add_load(struct admin_conn *c, const struct totals *t, struct sbuf *o)
{
	const struct limits *l = &c->admin->process->limits;
	const struct engine_shared *sh = &c->admin->process->shared;
	uint64_t now = admin_now_ms(c);

	add_u(o, "Ulimit-n", l->fds);
	add_u(o, "Maxsock", l->fds);
	add_u(o, "Maxconn", sh->max_sessions);
	add_u(o, "Hard_maxconn", l->maxconn);
	add_u(o, "CurrConns", t->sessions);
	/* As in HAProxy connections of this socket are included. */
	add_u(o, "CumConns", t->cum_conns + c->admin->accepted);
	add_u(o, "CumReq", t->requests + c->admin->accepted);
	sbuf_adds(o, "MaxSslConns: 0\nCurrSslConns: 0\nCumSslConns: 0\n");
	add_u(o, "Maxpipes", l->pipes);
	add_u(o, "PipesUsed", t->pipes_used);
	add_u(o, "PipesFree", t->pipes_idle);
	add_u(o, "ConnRate", freq_read(&t->conn_rate, now));
	add_u(o, "ConnRateLimit", sh->conn_limit.max);
	add_u(o, "MaxConnRate", t->conn_rate.max);
	add_u(o, "SessRate", freq_read(&t->sess_rate, now));
	add_u(o, "SessRateLimit", sh->sess_limit.max);
	add_u(o, "MaxSessRate", t->sess_rate.max);
	sbuf_adds(o,
		"SslRate: 0\nSslRateLimit: 0\nMaxSslRate: 0\nSslFrontendKeyRate: 0\n"
		"SslFrontendMaxKeyRate: 0\nSslFrontendSessionReuse_pct: 0\nSslBackendKeyRate: 0\n"
		"SslBackendMaxKeyRate: 0\nSslCacheLookups: 0\nSslCacheMisses: 0\n"
		"CompressBpsIn: 0\nCompressBpsOut: 0\nCompressBpsRateLim: 0\n");
	add_u(o, "Tasks", t->timers);
	add_u(o, "Run_queue", 0);
	add_u(o, "Idle_pct", t->idle_pct);
}

static void
add_state(struct admin_conn *c, const struct totals *t, struct sbuf *o)
{
	const struct process *p = c->admin->process;
	const struct loop *l = process_loop(p);
	const struct loop_stats *ls = &t->loop;

	sbuf_addf(o, "node: %s\n", p->node);
	if (p->cfg->global.description)
		sbuf_addf(o, "description: %s\n", p->cfg->global.description);
	add_u(o, "Stopping", p->state >= PROCESS_STOPPING);
	add_u(o, "Jobs", t->sessions + c->admin->n + process_listeners(p));
	add_u(o, "Unstoppable Jobs", 0);
	add_u(o, "Listeners", process_listeners(p));
	sbuf_adds(o, "ActivePeers: 0\nConnectedPeers: 0\n");
	add_u(o, "DroppedLogs", t->logs_dropped);
	sbuf_adds(o, "BusyPolling: 0\nFailedResolutions: 0\n");
	add_u(o, "TotalBytesOut", t->bytes_sent);
	add_u(o, "TotalSplicdedBytesOut", t->spliced);
	add_u(o, "BytesOutRate", (uint64_t)freq_read(&t->sent_rate, admin_now_ms(c)) * SENT_PIECE);
	sbuf_adds(o, "DebugCommandsIssued: 0\nCumRecvLogs: 0\n");
	sbuf_addf(o, "Build info: %s\n", VERSION_COMPAT);
	add_u(o, "Memmax_bytes", p->cfg->global.memory);
	add_u(o, "PoolAlloc_bytes", t->memory_used);
	add_u(o, "PoolUsed_bytes", t->memory_live);
	add_u(o, "Start_time_sec", p->started_wall_ns / 1000000000u);
	add_u(o, "Tainted", 0);
	/* Fields of tacit only. */
	sbuf_addf(o, "Poller: %s\nEpoll_mode: %s\n", loop_poller_name(l),
		  interest_mode_name(loop_mode(l)));
	add_u(o, "Loop_turns", ls->turns);
	add_u(o, "Loop_events", ls->events);
	add_u(o, "Loop_speculative_turns", ls->spec_turns);
	add_u(o, "Loop_stale_events", ls->stale);
	add_u(o, "Loop_spins", ls->spins);
	add_u(o, "Loop_refused_registrations", ls->set_errors);
	add_u(o, "Fsm_bugs", t->fsm_bugs);
	add_u(o, "Lingers", t->lingers);
	add_u(o, "Memory_holds", t->memory_holds);
	add_u(o, "Buffer_waits", t->buf_waits);
	add_u(o, "Stream_waits", t->bulk_waits);
	add_u(o, "Splice_bytes", t->spliced);
	add_u(o, "Splice_fallbacks", t->splice_fallbacks);
	add_u(o, "Zerocopy_pinned", t->zerocopy.pinned);
	add_u(o, "Zerocopy_bytes", t->zerocopy.bytes);
	add_u(o, "Zerocopy_copied", t->zerocopy.copied);
	add_u(o, "Zerocopy_refused", t->zerocopy.refused);
	add_u(o, "Zerocopy_full", t->zerocopy.full);
	add_u(o, "Syscalls", ledger_total(&t->ledger));
}

static void
do_info(struct admin_conn *c, int argc, char **argv)
{
	struct totals t;

	if (argc > 0) {
		admin_msg(c, ADMIN_ERR, "show info %s: not supported", argv[0]);
		return;
	}
	add_process(c, &c->out);
	totals_read(c->admin->process, &t);
	add_pools(c, &t, &c->out);
	add_load(c, &t, &c->out);
	add_state(c, &t, &c->out);
}

static void
do_version(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sbuf_addf(&c->out, "%s\n", VERSION_COMPAT);
}

const struct admin_cmd admin_info_cmds[] = {
	{ "show info", "", "report information about the running process", BIND_USER, do_info },
	{ "show version", "", "show version of the current process", BIND_USER, do_version },
	{ NULL, NULL, NULL, BIND_USER, NULL },
};
