/* Chooses the backend of a session. On the session's worker; the first use_backend whose
 * condition holds, then default_backend. */
#include "proxy/sample/route.h"

#include <limits.h>

#include "base/mem.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/eval.h"
#include "rule/match/cond.h"
#include "rule/sample/fmt.h"

/* The backend of a formatted name; NULL: there is none, or not of this mode. */
static struct proxy *
named_backend(const struct proxy *fe, const struct use_backend *u, struct sample_ctx *cx)
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
	return be && (be->mode == fe->mode || fe->mode != PROXY_HTTP) ? be : NULL;
}

static struct proxy *
if_enabled(struct proxy *be)
{
	return be && !be->disabled ? be : NULL;
}

static struct proxy *
dynamic_backend(const struct proxy *fe, const struct use_backend *u, struct sample_ctx *cx)
{
	struct proxy *be = named_backend(fe, u, cx);

	return if_enabled(be ? be : fe->fallback_be);
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

/* --- backends that are not published --- */

/* Returns 1 if force-be-switch permits all backends. */
static int
eval_be_switches(const struct proxy *fe, struct sample_ctx *cx)
{
	list_each(it, &fe->be_switches) {
		const struct be_switch *b = list_entry(it, const struct be_switch, link);

		cx->where = &b->where;
		if (rule_cond_eval(b->cond, cx) == RULE_YES)
			return 1;
	}
	return 0;
}

/* Returns 1 if the rules of fe may choose it. */
static int
eval_choice(const struct proxy *fe, const struct proxy *be, struct sample_ctx *cx)
{
	return !be->unpublished || be == fe || eval_be_switches(fe, cx);
}

/* default_backend, or else the servers of a listen section itself. */
static struct proxy *
default_published(struct proxy *fe, struct sample_ctx *cx)
{
	struct proxy *be = fe->fallback_be;

	if (be && !eval_choice(fe, be, cx))
		be = fe->caps & PROXY_BE ? fe : NULL;
	return if_enabled(be);
}

/* As match_use_backend() (HAProxy 3.4, 4.2): a rule whose backend is not published is passed
 * over. */
static struct proxy *
match_published(struct proxy *fe, struct sample_ctx *cx)
{
	list_each(it, &fe->use_backends) {
		const struct use_backend *u = list_entry(it, const struct use_backend, link);
		struct proxy *be;

		cx->where = &u->where;
		if (u->cond && rule_cond_eval(u->cond, cx) != RULE_YES)
			continue;
		be = u->fmt ? named_backend(fe, u, cx) : u->be;
		if (!be && u->fmt)
			break;
		if (!be || eval_choice(fe, be, cx))
			return if_enabled(be);
	}
	return default_published(fe, cx);
}

static struct proxy *
match_use_backend(struct stream *s)
{
	struct proxy *fe = s->sess->fe;
	unsigned int left = fe->n_routes;
	struct proxy *be = fe->default_be;
	struct eval eval;

	if (!left && likely(!fe->passes_over))
		return fe->default_be;
	look_begin(&eval, s);
	if (unlikely(fe->passes_over)) {
		be = match_published(fe, &eval.cx);
		tcp_content_eval_done(&eval, s);
		return be;
	}
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
be_switches_check(struct proxy *fe, struct proxies *root, struct cfg_diag *d)
{
	struct rule_err why;

	list_each(it, &fe->be_switches) {
		const struct be_switch *b = list_entry(it, const struct be_switch, link);

		fe->route_looks |= fe->mode == PROXY_TCP &&
			(rule_cond_uses(b->cond) & SAMPLE_AT_REQ);
		if (rule_cond_check(b->cond, root, &why) < 0)
			cfg_diag_add(d, CFG_ALERT, &b->where, "'force-be-switch' : %s.", why.text);
	}
}

void
be_switch_free(struct be_switch **b)
{
	if (*b)
		rule_cond_free(&(*b)->cond);
	mem_free(*b);
	*b = NULL;
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
