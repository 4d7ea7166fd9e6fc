#include "proxy/route.h"

#include "base/mem.h"
#include "proxy/look.h"
#include "proxy/proxies.h"

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

unsigned int
route_scope(const struct proxy *fe)
{
	return fe->mode == PROXY_HTTP ? SAMPLE_AT_CONN | SAMPLE_AT_REQ : SAMPLE_AT_CONN;
}

void
route_check(const struct proxy *fe, struct use_backend *u, struct proxies *root,
	struct cfg_diag *d)
{
	unsigned int needs = (u->cond ? rule_cond_needs(u->cond) : 0) |
		(u->fmt ? rule_fmt_needs(u->fmt) : 0);
	struct rule_err why;

	u->all = root;
	/* Bytes could only be looked at where connections wait for them, which none does yet. */
	if (fe->mode == PROXY_TCP && needs & ~route_scope(fe))
		cfg_diag_add(d, CFG_ALERT, &u->where,
			"'use_backend' : what clients send cannot be looked at in mode tcp yet.");
	if ((u->cond && rule_cond_check(u->cond, root, &why) < 0) ||
		(u->fmt && rule_fmt_check(u->fmt, root, &why) < 0))
		cfg_diag_add(d, CFG_ALERT, &u->where, "'use_backend' : %s.", why.text);
}

static struct proxy *
made_backend(const struct proxy *fe, const struct use_backend *u, struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	char name[ROUTE_NAME_MAX + 1];
	struct proxy *be = NULL;
	struct sbuf b;

	sbuf_init_fixed(&b, name, sizeof(name));
	rule_fmt_write(u->fmt, cx, &b);
	arena_release(cx->arena, mark);
	if (!b.failed)
		be = proxies_find_backend(u->all, name);
	if (!be || be->mode != fe->mode)
		be = fe->fallback_be;
	return be && !be->disabled ? be : NULL;
}

struct proxy *
route_backend(struct session *s)
{
	const struct proxy *fe = s->fe;
	unsigned int left = fe->n_routes;
	struct look look;

	if (!left)
		return fe->default_be;
	look_init(&look, s, route_scope(fe));
	look.cx.req_ended = 1;
	/* Without a request at hand its fetches are not asked. */
	if (!look.cx.req)
		look.cx.at &= ~(unsigned int)SAMPLE_AT_REQ;
	list_each(it, &fe->use_backends) {
		const struct use_backend *u = list_entry(it, const struct use_backend, link);

		if (!left--)
			break;
		if (!u->cond || rule_cond_eval(u->cond, &look.cx) == RULE_YES)
			return u->fmt ? made_backend(fe, u, &look.cx) : u->be;
	}
	return fe->default_be;
}
