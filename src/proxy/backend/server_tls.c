/* TLS of sessions with a server, switched while sessions run. On the first worker. */
#include "proxy/backend/server_tls.h"

#include <string.h>

#include "proxy/backend/conn_pool.h"
#include "proxy/model/server_kept.h"
#include "rule/sample/expr.h"
#include "tls/connect.h"

void
server_tls_settle(struct server *s)
{
	int is_asked = s->conf.tls.is_on && s->sni;

	s->sni_needs_request = is_asked &&
		(rule_expr_needs(s->sni) & (SAMPLE_AT_REQ | SAMPLE_AT_TXN)) != 0;
	s->sni_varies = is_asked && strncmp(s->conf.tls.sni, "str(", 4) != 0;
	s->may_speak_h2 = s->conf.proto == MUX_H2 ||
		(s->conf.tls.is_on && tls_alpn_offers_http2(&s->conf.tls.set.alpn));
}

int
server_may_use_tls(const struct server *s)
{
	return s->tls && tls_server_makers(s->tls);
}

void
server_restore_tls(struct server *s, int on)
{
	s->conf.tls.is_on = on;
	s->conf.tls.is_off = 0;
	s->xprt = on ? tls_server_makers(s->tls) : NULL;
	server_tls_settle(s);
}

void
server_set_tls(struct engine *e, struct server *s, int on)
{
	server_restore_tls(s, on);
	server_note(s);
	conn_pool_drop_stale(e, s);
	for (unsigned int i = 0; i < e->shared->n; i++)
		if (i != e->index)
			e->hooks.wake_pool(e, i, s);
}
