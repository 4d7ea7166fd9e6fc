/* TLS of sessions with a server, switched while sessions run. On the first worker. */
#include "proxy/backend/server_tls.h"

#include <string.h>

#include "proxy/backend/conn_pool.h"
#include "rule/sample/expr.h"
#include "tls/connect.h"

void
server_tls_settle(struct server *s)
{
	int is_asked = s->conf.tls.is_on && s->sni;

	s->sni_needs_request = is_asked &&
		(rule_expr_needs(s->sni) & (SAMPLE_AT_REQ | SAMPLE_AT_TXN)) != 0;
	s->sni_varies = is_asked && strncmp(s->conf.tls.sni, "str(", 4) != 0;
}

void
server_set_tls(struct engine *e, struct server *s, int on)
{
	s->conf.tls.is_on = on;
	s->conf.tls.is_off = 0;
	s->xprt = on ? tls_server_makers(s->tls) : NULL;
	server_tls_settle(s);
	conn_pool_drop_stale(e, s);
	for (unsigned int i = 0; i < e->shared->n; i++)
		if (i != e->index)
			e->wake_pool(e, i, s);
}
