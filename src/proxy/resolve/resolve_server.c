/* The address of a server, out of the answers for its host name. On the first worker. A server
 * with a valid answer that has an address for it is out of maintenance. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "dns/resolvers.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_report.h"
#include "proxy/backend/server_state.h"
#include "proxy/resolve/resolve.h"

#define BY_MAX 160
#define CAUSE_MAX 160

/* --- choosing --- */

/* True if another server with this lookup has the address. If several have it, as after a start
 * with the C library's answer, the first of them keeps it. */
static int
is_taken(const struct server_dns *d, const struct addr *a, int is_own)
{
	struct addr own;

	list_each(it, &d->srv->be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s == d->srv && is_own)
			return 0;
		if (s == d->srv || !s->dns || s->dns->watch.lookup != d->watch.lookup ||
			server_is_unresolved(s))
			continue;
		(void)addr_cell_get(&s->addr, &own);
		if (addr_is_same_host(&own, a))
			return 1;
	}
	return 0;
}

/* More is better: the family, then the network, then one that no other server has, then the one
 * that it has already. -1: not allowed. */
static int
score_address(const struct server_dns *d, const struct addr *a, const struct addr *own)
{
	const struct resolve_conf *c = &d->srv->conf.resolve;
	int is_own = addr_is_same_host(a, own), taken = is_taken(d, a, is_own), score = 0;

	if (taken && !(c->opts & RESOLVE_ALLOW_DUP))
		return -1;
	if (addr_family(a) == c->prefer)
		score += 8;
	for (unsigned int i = 0; i < c->n_nets; i++)
		if (forward_net_has(&c->net[i], a)) {
			score += 4;
			break;
		}
	return score + (taken ? 0 : 2) + is_own;
}

/* 1, or 0: none is allowed. */
static int
choose_address(const struct server_dns *d, struct addr *out)
{
	const struct dns_answer *answer = &d->watch.lookup->answer;
	struct addr own = { .len = 0 };
	int best = -1;

	if (!server_is_unresolved(d->srv))
		(void)addr_cell_get(&d->srv->addr, &own);
	list_each(it, &answer->items) {
		const struct dns_item *i = list_entry(it, const struct dns_item, link);
		int score = score_address(d, &i->record.addr, &own);

		if (score > best) {
			best = score;
			*out = i->record.addr;
		}
	}
	return best >= 0;
}

/* --- applying --- */

int
resolve_server_set(struct server_dns *d, const struct addr *a, const char *by)
{
	struct engine *e = d->of->engine;
	struct server *s = d->srv;
	char from[ADDR_TEXT] = "(none)", to[ADDR_TEXT];
	struct addr own;
	int same_ip, same;

	(void)addr_cell_get(&s->addr, &own);
	same_ip = addr_is_same_host(&own, a);
	same = same_ip && addr_port(&own) == addr_port(a);
	/* The same one again keeps its idle connections. */
	if (!same)
		server_set_addr(e, s, a);
	if (!server_is_unresolved(s) && same_ip)
		return !same;
	if (!server_is_unresolved(s) && own.len)
		(void)addr_host_text(&own, from);
	server_report_change(e, s, "changed its IP from %s to %s by %s.", from,
		addr_host_text(a, to), by);
	return 1;
}

void
resolve_server_up(struct server_dns *d)
{
	server_set_admin(d->of->engine, d->srv, SERVER_MAINT_UNRESOLVED, 0, "");
}

void
resolve_server_down(struct server_dns *d, const char *why)
{
	char cause[CAUSE_MAX];

	(void)snprintf(cause, sizeof(cause), " (%s)", why);
	server_set_admin(d->of->engine, d->srv, SERVER_MAINT_UNRESOLVED, 1, cause);
}

static void
on_host_answer(struct dns_watch *w, struct dns_nameserver *by)
{
	struct server_dns *d = container_of(w, struct server_dns, watch);
	char who[BY_MAX] = "DNS cache";
	struct addr a, own;
	int was_down = server_is_unresolved(d->srv);

	if (!choose_address(d, &a)) {
		resolve_server_down(d, "No IP for server ");
		return;
	}
	(void)addr_cell_get(&d->srv->addr, &own);
	addr_set_port(&a, d->service ? d->port
				     : own.len ? addr_port(&own) : d->srv->spec.port_lo);
	if (by)
		(void)snprintf(who, sizeof(who), "%s/%s", by->res->name, by->name);
	if (resolve_server_set(d, &a, who) && by)
		by->stat.update++;
	resolve_server_up(d);
	if (was_down)
		server_report_ready(d->of->engine, d->srv);
}

static void
on_host_failure(struct dns_watch *w, enum dns_status status)
{
	struct server_dns *d = container_of(w, struct server_dns, watch);

	resolve_server_down(d,
		status == DNS_NX		? "DNS NX status"
			: status == DNS_TIMEOUT ? "DNS timeout status"
			: status == DNS_REFUSED ? "DNS refused status"
						: "unspecified DNS error");
}

/* --- names --- */

void
resolve_server_init(struct server_dns *d)
{
	dns_watch_init(&d->watch);
	d->watch.on_answer = on_host_answer;
	d->watch.on_failure = on_host_failure;
}

int
resolve_server_watch(struct server_dns *d)
{
	const struct server *s = d->srv;

	return dns_lookup_watch(s->resolvers, s->fqdn,
		s->conf.resolve.prefer == AF_INET ? DNS_A : DNS_AAAA, &d->watch);
}

int
resolve_server_rename(struct server *s, const char *fqdn)
{
	char plain[DNS_NAME_MAX + 1], *name;

	if (s->dns->service || dns_name_set(plain, fqdn) < 0)
		return -ERR_INVAL;
	name = mem_strdup(fqdn);
	if (!name)
		return -ERR_NOMEM;
	dns_lookup_unwatch(&s->dns->watch);
	mem_free(s->fqdn);
	s->fqdn = name;
	return resolve_server_watch(s->dns);
}
