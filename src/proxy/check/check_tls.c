/* TLS of the connections of checks. On the first worker, whose connectors they use. */
#include "proxy/check/check_tls.h"

#include <string.h>

#include "net/xprt.h"
#include "proxy/model/proxy.h"
#include "tls/connect.h"

/* As sessions, unless checks go to an address or port of their own (manual 5.2, check). */
static int
check_uses_tls(const struct check_run *r)
{
	const struct server *s = r->check->srv;
	const struct server_conf *conf = &s->conf;

	if (r->check->is_agent || conf->tls.check == SERVER_CHECK_TLS_OFF)
		return 0;
	if (conf->tls.check == SERVER_CHECK_TLS_ON)
		return 1;
	return conf->tls.is_on && !conf->check.port && !conf->check.addr.len;
}

const struct xprt_maker *
check_tls_maker(const struct check_run *r)
{
	const struct server *s = r->check->srv;

	return check_uses_tls(r) && s->tls ? tls_server_makers(s->tls)[r->shared->engine->index]
					   : NULL;
}

int
check_tls_begin(struct check_run *r)
{
	const struct server *s = r->check->srv;
	const char *name = s->conf.tls.check_sni;

	if (!r->conn.xprt)
		return 0;
	return tls_connect_as(s->tls, &r->conn,
		name ? str_of(name) : (struct str){ NULL, 0 });
}
