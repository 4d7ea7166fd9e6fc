/* State shared by the sessions of one worker: pools, scratch memory, counters. One worker. */
#include "proxy/model/engine.h"

#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/capture.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http2/h2_engine.h"
#include "proxy/http2/h2_server.h"
#include "proxy/backend/server_state.h"
#include "proxy/session/session_admit.h"
#include "proxy/session/server_change.h"
#include "proxy/session/session.h"

/* Objects kept for reuse; others are freed. */
#define SESSIONS_KEPT 1024
#define BUFS_KEPT 1024
#define WIDE_KEPT 4
/* Maximum reads of one direction per dispatch, so that a fast stream does not starve the others. */
#define MAX_READS 8
/* Until engine_allow_http(). */
#define HTTP_REWRITE_DEFAULT 1024
#define HTTP_FIELDS_DEFAULT 101

void
engine_shared_init(struct engine_shared *sh, unsigned int n, unsigned int max_sessions)
{
	memset(sh, 0, sizeof(*sh));
	sh->n = n;
	sh->max_sessions = max_sessions;
	sh->comp_cpu = 100;
	vars_init(&sh->vars);
	sh->vars.lock = &sh->vars_lock;
	for (int i = 0; i < SHORTFALLS; i++)
		sh->shortfall_limit[i].max = 1;
}

void
engine_shared_fini(struct engine_shared *sh)
{
	vars_fini(&sh->vars);
}

/* Logs a shortfall of an evaluation, unless one of its kind has been logged within a second. */
static void
log_shortfall(void *engine, enum shortfall_kind kind, const char *text)
{
	struct engine *e = engine;
	struct rate_limit *limit = &e->shared->shortfall_limit[kind];

	if (rate_limit_wait(limit, e->sys, e->loop ? loop_now_ms(e->loop) : 0, 1))
		return;
	rate_limit_keep(limit, e->sys);
	log_msg(e->log, LOG_LEVEL_WARNING, "%s", text);
}

int
engine_init(struct engine *e, struct sys *sys, struct loop *loop, unsigned int bufsize,
	unsigned int max_sessions)
{
	int r;

	memset(e, 0, sizeof(*e));
	e->sys = sys;
	e->loop = loop;
	e->bufsize = bufsize;
	engine_shared_init(&e->alone, 1, max_sessions);
	e->shared = &e->alone;
	e->limits.max_reads = MAX_READS;
	list_init(&e->streams);
	session_hooks(e);
	e->hooks.on_server_change = server_change_apply;
	pool_init(&e->pools.session, "session", SESSION_SIZE, SESSIONS_KEPT);
	pool_init(&e->pools.substream, "stream", sizeof(struct substream), SESSIONS_KEPT);
	pool_init(&e->pools.buf, "buffer", bufsize, BUFS_KEPT);
	pool_init(&e->pools.wide, "wide", (size_t)WIDE_BUFS * bufsize, WIDE_KEPT);
	bulk_init(e);
	conn_pool_init(e);
	engine_splice_init(e);
	slowstart_init(e);
	conn_limits_init(e);
	zerocopy_init(&e->zerocopy, sys, &e->pools.buf);
	e->limits.line_max = HTTP_LINE_MAX;
	engine_allow_http(e, HTTP_REWRITE_DEFAULT, HTTP_FIELDS_DEFAULT);
	e->low_water = 1;
	engine_allow_captures(e, 0);
	engine_addr_override_init(e);
	engine_allow_tracking(e, 0);
	status_set_client_errors(&e->err_codes);
	status_set_server_failures(&e->fail_codes);
	e->scratch = mem_alloc(bufsize);
	if (!e->scratch)
		return -ERR_NOMEM;
	r = eval_scratch_init(&e->eval, bufsize, sys);
	e->eval.shortfalls.tell = log_shortfall;
	e->eval.shortfalls.arg = e;
	if (r) {
		mem_free(e->scratch);
		e->scratch = NULL;
	}
	return r;
}

void
engine_allow_http(struct engine *e, unsigned int maxrewrite, unsigned int maxhdr)
{
	e->limits.maxrewrite = MIN(maxrewrite, e->bufsize / 2);
	e->limits.maxhdr = maxhdr;
	/* For objects of another size: the pool is still empty. */
	http_txn_pool_init(e);
}

void
engine_join(struct engine *e, struct engine_shared *shared, unsigned int index)
{
	assert(index < shared->n && shared->n <= ENGINES_MAX);
	e->shared = shared;
	e->index = index;
}

void
engine_fini(struct engine *e)
{
	assert(e->n_sessions == 0);
	conn_pool_fini(e);
	bulk_fini(e);
	engine_splice_fini(e);
	slowstart_fini(e);
	conn_limits_stop_rates(e);
	zerocopy_fini(&e->zerocopy);
	pool_fini(&e->pools.session);
	pool_fini(&e->pools.substream);
	h2_server_close_all(e);
	engine_h2_fini(e);
	pool_fini(&e->pools.buf);
	pool_fini(&e->pools.wide);
	pool_fini(&e->pools.txn);
	pool_fini(&e->pools.capture);
	pool_fini(&e->pools.addr_override);
	pool_fini(&e->pools.extras);
	pool_fini(&e->pools.tracked);
	mem_free(e->scratch);
	mem_free(e->filter_room);
	mem_free(e->inner);
	e->scratch = NULL;
	eval_scratch_fini(&e->eval);
	engine_shared_fini(&e->alone);
}
