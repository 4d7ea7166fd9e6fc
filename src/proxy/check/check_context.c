/* The evaluation context of formats and expressions of health checks. On the first worker. */
#include "proxy/check/check_context.h"

#include <string.h>

#include "proxy/model/proxy.h"

void
check_context_init(struct check_run *r, struct sample_ctx *cx)
{
	struct engine *e = r->shared->engine;

	memset(cx, 0, sizeof(*cx));
	r->shared->log.id = e->log ? &e->log->id : NULL;
	cx->at = CHECK_SCOPE;
	cx->log = &r->shared->log;
	/* The rules of a check wait for no sample. */
	cx->req_ended = 1;
	cx->proc = &e->shared->vars;
	cx->check = cx->sess = &r->vars;
	cx->server = r->check->srv;
	cx->sink = e->log;
	cx->arena = &e->eval.arena;
	cx->regex = e->eval.regex;
	cx->shortfalls = &e->eval.shortfalls;
	cx->now_ms = loop_now_ms(e->loop);
	cx->wall_ns = loop_wall_ns(e->loop);
	cx->random = &e->eval.random;
	cx->sys = e->sys;
	cx->worker = e->index;
}
