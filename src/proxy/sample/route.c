/* Chooses the backend of a session. On the session's worker; the first use_backend whose
 * condition holds, then default_backend. */
#include "proxy/sample/route.h"

#include <limits.h>

#include "base/mem.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/eval.h"
#include "rule/match/cond.h"
#include "rule/sample/fmt.h"

static struct proxy *
dynamic_backend(const struct proxy *fe, const struct use_backend *u, struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	char name[ROUTE_NAME_MAX + 1];
	struct proxy *be = NULL;
	struct sbuf b;

	sbuf_init_fixed(&b, name, sizeof(name));
	rule_fmt_write(u->fmt, cx, &b);
	arena_release(cx->arena, mark);
	if (!b.failed)
		be = proxies_find(u->all, name, PROXY_BE);
	if (!be || (be->mode != fe->mode && fe->mode == PROXY_HTTP))
		be = fe->fallback_be;
	return be && !be->disabled ? be : NULL;
}

static void
look_begin(struct eval *eval, struct stream *s)
{
	if (s->sess->fe->route_looks && !s->txn) {
		tcp_content_eval_init(eval, s, ROUTE_SCOPE);
		return;
	}
	eval_init(eval, s, ROUTE_SCOPE);
	eval->cx.req_ended = 1;
	/* Without a request its fetches are not evaluated. */
	if (!eval->cx.req)
		eval->cx.at &= ~(unsigned int)SAMPLE_AT_REQ;
}

static struct proxy *
match_use_backend(struct stream *s)
{
	const struct proxy *fe = s->sess->fe;
	unsigned int left = fe->n_routes;
	struct proxy *be = fe->default_be;
	struct eval eval;

	if (!left)
		return fe->default_be;
	look_begin(&eval, s);
	list_each(it, &fe->use_backends) {
		const struct use_backend *u = list_entry(it, const struct use_backend, link);

		if (!left--)
			break;
		eval.cx.where = &u->where;
		if (u->cond && rule_cond_eval(u->cond, &eval.cx) != RULE_YES)
			continue;
		be = u->fmt ? dynamic_backend(fe, u, &eval.cx) : u->be;
		break;
	}
	tcp_content_eval_done(&eval, s);
	return be;
}

struct proxy *
route_backend(struct stream *s)
{
	struct proxy *be = match_use_backend(s);

	/* Mode http cannot be left. */
	return be && s->is_http && be->mode != PROXY_HTTP ? NULL : be;
}

/* --- fullconn --- */

/* A frontend counts once, whatever the number of its references to the backend. */
static void
add_reach(struct proxy *be, const struct proxy *fe, unsigned int maxconn)
{
	if (!be || be->reached_by == fe)
		return;
	be->reached_by = fe;
	be->reach += fe->maxconn ? (unsigned int)fe->maxconn : maxconn;
}

void
proxies_set_fullconn(struct proxies *ps, unsigned int maxconn)
{
	list_each(it, &ps->all) {
		const struct proxy *fe = list_entry(it, const struct proxy, link);

		if (!(fe->caps & PROXY_FE) || fe->disabled)
			continue;
		add_reach(fe->default_be, fe, maxconn);
		list_each(at, &fe->use_backends)
			add_reach(list_entry(at, struct use_backend, link)->be, fe, maxconn);
	}
	list_each(it, &ps->all) {
		struct proxy *be = list_entry(it, struct proxy, link);

		if (be->caps & PROXY_BE && !be->fullconn)
			be->fullconn = (int)MIN(MAX((be->reach + 9) / 10, 1u), (uint64_t)INT_MAX);
	}
}

void
use_backend_free(struct use_backend **u)
{
	if (!*u)
		return;
	rule_cond_free(&(*u)->cond);
	rule_fmt_free(&(*u)->fmt);
	mem_free((*u)->name);
	mem_free(*u);
	*u = NULL;
}
