/* SRV records become servers: each record gets one of the servers whose lines name the service. On
 * the first worker. A server has a host name while it has a record. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "dns/resolvers.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/backend/server_report.h"
#include "proxy/resolve/resolve.h"

/* Weights of records are 16-bit numbers, those of servers 0 to 256. */
#define WEIGHT_UNIT 256

/* --- one server --- */

static void
take_record_weight(struct server_dns *d, const struct dns_record *rec)
{
	int weight = (rec->weight + WEIGHT_UNIT - 1) / WEIGHT_UNIT;

	if ((d->srv->conf.resolve.opts & RESOLVE_IGNORE_WEIGHT) || weight == d->srv->uweight)
		return;
	/* With a static algorithm it has the configured weight. */
	(void)!server_set_weight(d->of->engine, d->srv, weight);
}

/* The address that came with the record, or else one that is looked up. */
static void
take_record_address(struct server_dns *d, const struct dns_record *rec)
{
	struct addr a = rec->addr;

	if (!a.len) {
		/* Without memory the next response tries again. */
		if (!d->watch.lookup)
			(void)!resolve_server_watch(d);
		return;
	}
	dns_lookup_unwatch(&d->watch);
	addr_set_port(&a, rec->port);
	(void)resolve_server_set(d, &a, "DNS additional record");
}

static void
give_record(struct server_dns *d, const struct dns_record *rec)
{
	char *name = mem_strdup(rec->target);

	if (!name)
		return;
	d->srv->fqdn = name;
	d->port = rec->port;
	take_record_weight(d, rec);
	take_record_address(d, rec);
	server_log_change(d->of->engine, d->srv, "changed its FQDN from (null) to %s by "
		"'SRV record'", name);
	if (rec->addr.len)
		resolve_server_up(d);
}

static void
renew_record(struct server_dns *d, const struct dns_record *rec)
{
	take_record_weight(d, rec);
	take_record_address(d, rec);
	if (rec->addr.len)
		resolve_server_up(d);
}

static void
take_record_away(struct server_dns *d)
{
	dns_lookup_unwatch(&d->watch);
	mem_free(d->srv->fqdn);
	d->srv->fqdn = NULL;
	resolve_server_down(d, "entry removed from SRV record");
}

/* --- all of them --- */

/* Each server of the service; `d` is its struct server_dns. */
#define EACH_SERVER(d, v)                                                                  \
	list_each(it_, &(v)->be->servers)                                                  \
		for (struct server_dns *d = list_entry(it_, struct server, link)->dns;     \
			d && d->service == (v); d = NULL)

static int
has_record(const struct server_dns *d, const struct dns_record *rec)
{
	return d->srv->fqdn && d->port == rec->port && strcmp(d->srv->fqdn, rec->target) == 0;
}

static const struct dns_record *
record_of(const struct service *v, const struct server_dns *d)
{
	list_each(it, &v->watch.lookup->answer.items) {
		const struct dns_item *i = list_entry(it, const struct dns_item, link);

		if (has_record(d, &i->record))
			return &i->record;
	}
	return NULL;
}

static struct server_dns *
server_of_record(const struct service *v, const struct dns_record *rec)
{
	EACH_SERVER(d, v)
		if (has_record(d, rec))
			return d;
	return NULL;
}

static struct server_dns *
free_server(const struct service *v)
{
	EACH_SERVER(d, v)
		if (!d->srv->fqdn)
			return d;
	return NULL;
}

static void
give_records(struct service *v)
{
	list_each(it, &v->watch.lookup->answer.items) {
		const struct dns_record *rec = &list_entry(it, struct dns_item, link)->record;
		struct server_dns *d = server_of_record(v, rec);

		if (d) {
			renew_record(d, rec);
			continue;
		}
		d = free_server(v);
		if (d)
			give_record(d, rec);
	}
}

/* New records first, as far as there are servers for them: when all records change the backend is
 * never empty. */
static void
on_service_answer(struct dns_watch *w, struct dns_nameserver *by)
{
	struct service *v = container_of(w, struct service, watch);
	int taken = 0;

	(void)by;
	give_records(v);
	EACH_SERVER(d, v)
		if (d->srv->fqdn && !record_of(v, d)) {
			take_record_away(d);
			taken = 1;
		}
	if (taken)
		give_records(v);
}

static void
on_service_failure(struct dns_watch *w, enum dns_status status)
{
	struct service *v = container_of(w, struct service, watch);

	(void)status;
	EACH_SERVER(d, v)
		if (d->srv->fqdn)
			take_record_away(d);
}

/* --- life --- */

static struct service *
find_service(struct resolve *r, const struct server *s)
{
	list_each(it, &r->services) {
		struct service *v = list_entry(it, struct service, link);

		if (v->be == s->be && v->res == s->resolvers && strcmp(v->name, s->fqdn) == 0)
			return v;
	}
	return NULL;
}

int
resolve_service_join(struct server_dns *d)
{
	struct server *s = d->srv;
	struct service *v = find_service(d->of, s);

	if (!v) {
		v = mem_zalloc(sizeof(*v));
		if (!v)
			return -ERR_NOMEM;
		v->of = d->of;
		v->be = s->be;
		v->res = s->resolvers;
		v->name = s->fqdn;
		dns_watch_init(&v->watch);
		v->watch.on_answer = on_service_answer;
		v->watch.on_failure = on_service_failure;
		list_append(&d->of->services, &v->link);
	} else {
		mem_free(s->fqdn);
	}
	s->fqdn = NULL;
	d->service = v;
	return 0;
}

int
resolve_service_watch(struct service *v)
{
	return dns_lookup_watch(v->res, v->name, DNS_SRV, &v->watch);
}

void
resolve_service_free(struct service **vp)
{
	struct service *v = *vp;

	*vp = NULL;
	dns_lookup_unwatch(&v->watch);
	list_remove(&v->link);
	mem_free(v->name);
	mem_free(v);
}
