/* TLS of the connection to a server. On the session's worker, whose connector it uses. */
#include "proxy/session/connect_tls.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/xprt.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/eval.h"
#include "rule/sample/expr.h"
#include "tls/connect.h"

/* A name, and behind it its expression. */
struct noted_name {
	size_t len;
	char text[];
};

/* The noted name, for this server or for one with the same expression; p NULL: none. */
static struct str
noted_for(const struct stream *s)
{
	const struct noted_name *n = s->txn ? s->txn->sni : NULL;

	if (!n || strcmp(n->text + n->len, s->srv->conf.tls.sni) != 0)
		return (struct str){ NULL, 0 };
	return (struct str){ n->text, n->len };
}

/* In the arena, which the caller releases; len 0: none. */
static struct str
eval_name(const struct stream *s, unsigned int at, struct arena *a)
{
	struct sample value;
	struct eval l;

	eval_init(&l, (struct stream *)(uintptr_t)s, at);
	l.cx.arena = a;
	l.cx.where = &s->srv->where;
	if (!rule_expr_eval_as(s->srv->sni, &l.cx, SAMPLE_STR, &value))
		return (struct str){ NULL, 0 };
	return value.u.str;
}

/* len 0: none. -ERR_NOMEM: it could not be noted, and without its name a server must not be
 * trusted. */
static int
name_to_ask(const struct stream *s, struct arena *a, struct str *out)
{
	*out = (struct str){ NULL, 0 };
	if (!s->srv->sni)
		return 0;
	*out = s->srv->sni_needs_request ? noted_for(s) : eval_name(s, SAMPLE_AT_CONN, a);
	return s->srv->sni_needs_request && !out->p ? -ERR_NOMEM : 0;
}

static struct noted_name *
make_noted(struct str name, const char *expression)
{
	struct noted_name *n = mem_alloc(sizeof(*n) + name.len + strlen(expression) + 1);

	if (!n)
		return NULL;
	n->len = name.len;
	if (name.len)
		memcpy(n->text, name.p, name.len);
	memcpy(n->text + name.len, expression, strlen(expression) + 1);
	return n;
}

void
connect_tls_note(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	struct http_txn *t = s->txn;
	size_t mark = arena_mark(a);
	struct str name;

	if (!s->srv->sni_needs_request || t->placed)
		return;
	mem_free(t->sni);
	name = eval_name(s, SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_TXN, a);
	t->sni = make_noted(name, s->srv->conf.tls.sni);
	arena_release(a, mark);
}

int
connect_tls_begin(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct tls_ask ask = { .name = { NULL, 0 } };
	int r;

	if (!s->srv->tls)
		return 0;
	r = name_to_ask(s, a, &ask.name);
	if (!r)
		r = tls_connect_as(s->conn[SERVER], &ask);
	arena_release(a, mark);
	return r;
}

int
connect_tls_is(const struct stream *s, const struct conn *c)
{
	struct arena *a = &s->engine->eval.arena;
	struct str made = { NULL, 0 }, name;
	size_t mark;
	int same;

	if (!s->srv->sni_varies)
		return 1;
	mark = arena_mark(a);
	(void)!conn_query(c, XPRT_QUERY_SERVER_NAME, &made);
	same = name_to_ask(s, a, &name) == 0 && str_is(made, name);
	arena_release(a, mark);
	return same;
}

int
connect_tls_reuse(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct str name;
	int r = 0;

	if (name_to_ask(s, a, &name) == 0)
		r = conn_pool_get_named(s->engine, s->srv, name, session_is_first_request(s),
			s->engine->on_server_io, s, s->conn[SERVER], &s->uses);
	arena_release(a, mark);
	return r;
}
