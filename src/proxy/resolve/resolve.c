/* The life of name resolution at run time. Started and stopped by the process; everything between
 * runs on the first worker. */
#include "proxy/resolve/resolve.h"

#include "base/err.h"
#include "base/mem.h"
#include "dns/resolvers.h"
#include "proxy/backend/server_addr.h"

static int
add_server_dns(struct resolve *r, struct server *s)
{
	struct server_dns *d = mem_zalloc(sizeof(*d));
	int rc;

	if (!d)
		return -ERR_NOMEM;
	d->of = r;
	d->srv = s;
	resolve_server_init(d);
	s->dns = d;
	if (server_names_service(s))
		return resolve_service_join(d);
	rc = resolve_server_watch(d);
	if (rc == 0 && s->has_last_addr)
		dns_lookup_hold(&d->watch, loop_now_ms(r->engine->loop));
	return rc;
}

static int
add_servers(struct resolve *r)
{
	list_each(it, &r->ps->all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		list_each(at, &p->servers) {
			struct server *s = list_entry(at, struct server, link);
			int e = s->resolvers && s->fqdn && !p->disabled ? add_server_dns(r, s) : 0;

			if (e < 0)
				return e;
		}
	}
	return 0;
}

int
resolve_start(struct resolve *r, struct engine *e, struct proxies *ps)
{
	int rc;

	r->engine = e;
	r->ps = ps;
	list_init(&r->services);
	resolve_asks_start(&r->asks, e);
	rc = add_servers(r);
	list_each(it, &r->services)
		if (rc == 0)
			rc = resolve_service_watch(list_entry(it, struct service, link));
	list_each(it, &ps->resolvers) {
		struct resolvers *res = list_entry(it, struct resolvers, link);

		/* A section that is not used opens nothing. */
		if (rc == 0 && (res->is_asked || !list_is_empty(&res->lookups)))
			rc = resolvers_start(res, e->loop);
	}
	return rc;
}

static void
drop_server_dns(struct server *s)
{
	if (!s->dns)
		return;
	dns_lookup_unwatch(&s->dns->watch);
	mem_free(s->dns);
	s->dns = NULL;
}

void
resolve_stop(struct resolve *r)
{
	if (!r->engine)
		return;
	resolve_asks_stop(&r->asks);
	list_each(it, &r->ps->resolvers)
		resolvers_stop(list_entry(it, struct resolvers, link));
	list_each(it, &r->ps->all)
		list_each(at, &list_entry(it, struct proxy, link)->servers)
			drop_server_dns(list_entry(at, struct server, link));
	while (!list_is_empty(&r->services)) {
		struct service *v = list_first(&r->services, struct service, link);

		resolve_service_free(&v);
	}
	r->engine = NULL;
}

unsigned int
resolve_descriptors(const struct proxies *ps)
{
	unsigned int n = 0;

	list_each(it, &ps->resolvers) {
		const struct resolvers *res = list_entry(it, const struct resolvers, link);

		/* A UDP socket and a connection. */
		if (!res->is_implicit || res->is_asked)
			n += 2 * res->n_nameservers;
	}
	return n;
}
