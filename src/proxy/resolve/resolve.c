/* The life of name resolution at run time. Started and stopped by the process; everything between
 * runs on the first worker. */
#include "proxy/resolve/resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "dns/resolvers.h"
#include "event/profile.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/dns_ask.h"

/* --- servers --------------------------------------------------------------------------------- */

/*
 * The address of a server, out of the answers for its host name. On the first worker. A server
 * with a valid answer that has an address for it is out of maintenance.
 */

#define BY_MAX 160
#define CAUSE_MAX 160

/* --- choosing --- */

/* Returns the record of the answer that the server has; NULL: none. As in HAProxy it keeps its
 * record while an operator's address takes the place of the record's. It is searched once for
 * each response, since there may be as many servers as records. */
static struct dns_item *
record_in_use(struct server_dns *d)
{
	struct dns_answer *answer = &d->watch.lookup->answer;
	struct addr own = d->chosen;

	if (server_is_unresolved(d->srv))
		return NULL;
	if (d->round == answer->round)
		return d->record;
	d->round = answer->round;
	d->record = NULL;
	if (!own.len)
		(void)addr_cell_get(&d->srv->addr, &own);
	list_each(it, &answer->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		if (!d->record && addr_is_same_host(&own, &i->record.addr))
			d->record = i;
	}
	return d->record;
}

/* Each server of the backend with this lookup; `d` is its struct server_dns. */
#define EACH_OF_LOOKUP(d, backend, l)                                                      \
	list_each(it_, &(backend)->servers)                                                \
		for (struct server_dns *d = list_entry(it_, struct server, link)->dns;     \
			d && d->watch.lookup == (l); d = NULL)

/* Counts the servers of the backend that use each record. */
static void
count_record_users(const struct proxy *be, const struct dns_lookup *l)
{
	list_each(it, &l->answer.items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		i->users = 0;
		i->is_kept = 0;
	}
	EACH_OF_LOOKUP(d, be, l) {
		struct dns_item *used = record_in_use(d);

		if (used)
			used->users++;
	}
}

/* Returns how well an address fits a server, the higher the better: first by its family, then by
 * its network, then whether no other server has it, then whether the server has it already. -1: it
 * is not allowed. */
static int
score_address(const struct server_dns *d, const struct dns_item *item, int is_own)
{
	const struct resolve_conf *c = &d->srv->conf.resolve;
	const struct addr *a = &item->record.addr;
	/* If several use one, as after a start with the C library's answer, the first of them keeps
	 * it. */
	int taken = is_own ? item->is_kept : item->users > 0, score = 0;

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

/* Chooses a record for a server, which is its own from now on; NULL: none is allowed. is_new: it
 * had another one, or none. To be called for the servers in order, after count_record_users(). */
static const struct dns_item *
choose_record(struct server_dns *d, int *is_new)
{
	struct dns_answer *answer = &d->watch.lookup->answer;
	struct dns_item *own = record_in_use(d), *chosen = NULL;
	int best = -1;

	list_each(it, &answer->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);
		int score = score_address(d, i, i == own);

		if (score > best) {
			best = score;
			chosen = i;
		}
	}
	if (own)
		own->users--;
	if (chosen) {
		chosen->users++;
		chosen->is_kept = 1;
		d->chosen = chosen->record.addr;
	}
	*is_new = chosen != own;
	d->round = answer->round;
	d->record = chosen;
	return chosen;
}

/* --- applying --- */

/* Sets the server's address and port if they differ. by: the source of the address, for the log. 1
 * if it was changed. */
static int
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

/* The server has an address: ends its maintenance. */
static void
resolve_server_up(struct server_dns *d)
{
	server_set_admin(d->of->engine, d->srv, SERVER_MAINT_UNRESOLVED, 0, "");
}

/* The server has no address: begins maintenance. */
static void
resolve_server_down(struct server_dns *d, const char *why)
{
	char cause[CAUSE_MAX];

	d->chosen.len = 0;
	(void)snprintf(cause, sizeof(cause), " (%s)", why);
	server_set_admin(d->of->engine, d->srv, SERVER_MAINT_UNRESOLVED, 1, cause);
}

static void
take_host_answer(struct server_dns *d, struct dns_nameserver *by)
{
	int is_new;
	const struct dns_item *chosen = choose_record(d, &is_new);
	char who[BY_MAX] = "DNS cache";
	struct addr a, own;
	int was_down = server_is_unresolved(d->srv);

	if (!chosen)
		resolve_server_down(d, "No IP for server ");
	if (!chosen || !is_new)
		return;
	a = chosen->record.addr;
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

/* The first server of a backend that is notified has all of them take the answer. */
static void
on_host_answer(struct dns_watch *w, struct dns_nameserver *by)
{
	const struct server_dns *first = container_of(w, struct server_dns, watch);
	struct proxy *be = first->srv->be;
	struct engine *e = first->of->engine;

	if (first->taken == w->lookup->answer.round)
		return;
	server_changes_begin(e, be);
	count_record_users(be, w->lookup);
	EACH_OF_LOOKUP(d, be, w->lookup) {
		d->taken = w->lookup->answer.round;
		take_host_answer(d, by);
		by = NULL;
	}
	server_changes_end(e, be);
}

/* As for an answer: the other servers of the backend are down when they are notified. */
static void
on_host_failure(struct dns_watch *w, enum dns_status status)
{
	const struct server_dns *first = container_of(w, struct server_dns, watch);
	struct proxy *be = first->srv->be;
	struct engine *e = first->of->engine;
	const char *why = status == DNS_NX  ? "DNS NX status"
		: status == DNS_TIMEOUT     ? "DNS timeout status"
		: status == DNS_REFUSED     ? "DNS refused status"
					    : "unspecified DNS error";

	if (server_is_unresolved(first->srv))
		return;
	server_changes_begin(e, be);
	EACH_OF_LOOKUP(d, be, w->lookup)
		resolve_server_down(d, why);
	server_changes_end(e, be);
}

/* --- names --- */

static void
resolve_server_init(struct server_dns *d)
{
	dns_watch_init(&d->watch);
	d->watch.on_answer = on_host_answer;
	d->watch.on_failure = on_host_failure;
}

/* Looks up the host srv->fqdn: 0 or as dns_lookup_watch(). */
static int
resolve_server_watch(struct server_dns *d)
{
	const struct server *s = d->srv;

	d->round = d->taken = 0;
	d->chosen.len = 0;
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

void
resolve_server_hold(struct server *s)
{
	struct server_dns *d = s->dns;

	if (d && d->watch.lookup)
		dns_lookup_hold(&d->watch, loop_now_ms(d->of->engine->loop));
}

/* --- services -------------------------------------------------------------------------------- */

/*
 * SRV records become servers: each record gets one of the servers whose lines name the service.
 * On the first worker. A server has a host name while it has a record.
 */

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

/* Uses the address that came with the record, or else looks one up. */
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
	server_changes_begin(v->of->engine, v->be);
	give_records(v);
	EACH_SERVER(d, v)
		if (d->srv->fqdn && !record_of(v, d)) {
			take_record_away(d);
			taken = 1;
		}
	if (taken)
		give_records(v);
	server_changes_end(v->of->engine, v->be);
}

static void
on_service_failure(struct dns_watch *w, enum dns_status status)
{
	struct service *v = container_of(w, struct service, watch);

	(void)status;
	server_changes_begin(v->of->engine, v->be);
	EACH_SERVER(d, v)
		if (d->srv->fqdn)
			take_record_away(d);
	server_changes_end(v->of->engine, v->be);
}

/* --- questions ------------------------------------------------------------------------------- */

/*
 * Questions of rules, on the first worker: looked up, and sent back to the worker of their
 * session. One that is in `active` watches a lookup.
 */

/* --- answers --- */

static void
send_back(struct dns_ask *a)
{
	struct dns_asks *all = a->of;
	struct engine *e = all->first;
	unsigned int worker = a->worker;

	dns_lookup_unwatch(&a->watch);
	list_remove(&a->link);
	lock_take(&all->lock, e->sys);
	list_append(&all->done[worker], &a->link);
	lock_drop(&all->lock);
	/* The question may belong to another worker now. */
	if (worker == e->index)
		loop_post(e->loop, &all->task);
	else
		e->hooks.wake_asks(e, worker);
}

static void
take_first_addr(struct dns_ask *a, const struct dns_answer *answer)
{
	if (answer->n)
		a->addr = list_first(&answer->items, struct dns_item, link)->record.addr;
}

static void
on_asked_answer(struct dns_watch *w, struct dns_nameserver *by)
{
	struct dns_ask *a = container_of(w, struct dns_ask, watch);

	(void)by;
	take_first_addr(a, &w->lookup->answer);
	send_back(a);
}

static void
on_asked_failure(struct dns_watch *w, enum dns_status status)
{
	(void)status;
	send_back(container_of(w, struct dns_ask, watch));
}

/* --- questions --- */

static void
look_up_asked(struct dns_ask *a)
{
	const struct dns_answer *known;

	a->watch.on_answer = on_asked_answer;
	a->watch.on_failure = on_asked_failure;
	list_append(&a->of->active, &a->link);
	switch (dns_lookup_ask(a->res, a->name, a->prefer, &a->watch, &known)) {
	case 0:
		return;
	case 1:
		take_first_addr(a, known);
		break;
	default:
		break;
	}
	send_back(a);
}

void
resolve_take_asks(struct dns_asks *all)
{
	struct engine *e = all->first;
	struct list todo;

	list_init(&todo);
	lock_take(&all->lock, e->sys);
	list_move_all(&all->todo, &todo);
	lock_drop(&all->lock);
	while (!list_is_empty(&todo)) {
		struct dns_ask *a = list_first(&todo, struct dns_ask, link);

		list_remove(&a->link);
		look_up_asked(a);
	}
}

/* --- life --- */

static void
on_asks(struct task *t)
{
	struct dns_asks *all = container_of(t, struct dns_asks, task);

	resolve_take_asks(all);
	dns_ask_collect(all->first);
}
PROFILE_NAME(on_asks, asks_task)

static void
resolve_asks_start(struct dns_asks *all, struct engine *first)
{
	task_init(&all->task, on_asks);
	all->lock = (struct lock){ 0 };
	list_init(&all->active);
	list_init(&all->todo);
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		list_init(&all->done[i]);
	first->shared->asks = all;
	all->first = first;
}

static void
free_asks(struct list *l)
{
	while (!list_is_empty(l)) {
		struct dns_ask *a = list_first(l, struct dns_ask, link);

		list_remove(&a->link);
		dns_lookup_unwatch(&a->watch);
		mem_free(a);
	}
}

/* No session may be left. */
static void
resolve_asks_stop(struct dns_asks *all)
{
	task_cancel(&all->task);
	all->first->shared->asks = NULL;
	all->first = NULL;
	free_asks(&all->active);
	free_asks(&all->todo);
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		free_asks(&all->done[i]);
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

/* Lets the server belong to the service of its name. 0 or -ERR_NOMEM. */
static int
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

/* 0 or -ERR_NOMEM. */
static int
resolve_service_watch(struct service *v)
{
	return dns_lookup_watch(v->res, v->name, DNS_SRV, &v->watch);
}

static void
resolve_service_free(struct service **vp)
{
	struct service *v = *vp;

	*vp = NULL;
	dns_lookup_unwatch(&v->watch);
	list_remove(&v->link);
	mem_free(v->name);
	mem_free(v);
}

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
		resolve_server_hold(s);
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

		res->families = &ps->families;
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
