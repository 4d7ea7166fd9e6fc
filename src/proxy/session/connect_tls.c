/* TLS of the connection to a server. On the session's worker, whose connector it uses. */
#include "proxy/session/connect_tls.h"

#include "net/xprt.h"
#include "proxy/sample/eval.h"
#include "rule/sample/expr.h"
#include "tls/connect.h"

/* In the arena, which the caller releases; len 0: none. */
static struct str
name_to_ask(const struct session *s, struct arena *a)
{
	struct sample value;
	struct eval l;

	if (!s->srv->sni)
		return (struct str){ NULL, 0 };
	eval_init(&l, (struct session *)(uintptr_t)s, SAMPLE_AT_CONN);
	l.cx.arena = a;
	if (!rule_expr_eval_as(s->srv->sni, &l.cx, SAMPLE_STR, &value))
		return (struct str){ NULL, 0 };
	return value.u.str;
}

int
connect_tls_begin(struct session *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	int r;

	if (!s->srv->tls)
		return 0;
	r = tls_connect_as(s->srv->tls, &s->conn[SERVER], name_to_ask(s, a));
	arena_release(a, mark);
	return r;
}

int
connect_tls_is(const struct session *s, const struct conn *c)
{
	struct arena *a = &s->engine->eval.arena;
	struct str made = { NULL, 0 };
	size_t mark;
	int same;

	if (!s->srv->sni_varies)
		return 1;
	mark = arena_mark(a);
	(void)!conn_query(c, XPRT_QUERY_SERVER_NAME, &made);
	same = str_is(made, name_to_ask(s, a));
	arena_release(a, mark);
	return same;
}
