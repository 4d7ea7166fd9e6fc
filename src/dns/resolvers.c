/* A section `resolvers`: made while the configuration is read, started and stopped by the process,
 * used on the first worker. Its lookups: during a try each query is linked to its name server or
 * was answered, and the timer runs. */
#include "dns/resolvers.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "dns/nameserver.h"
#include "event/profile.h"

/* --- lookups --- */

/* --- answers --------------------------------------------------------------------------------- */

static void
dns_answer_init(struct dns_answer *a)
{
	list_init(&a->items);
	a->n = 0;
	a->round = 0;
}

static void
remove_item(struct dns_answer *a, struct dns_item *it)
{
	list_remove(&it->link);
	mem_free(it);
	a->n--;
}

static void
dns_answer_fini(struct dns_answer *a)
{
	while (!list_is_empty(&a->items))
		remove_item(a, list_first(&a->items, struct dns_item, link));
}

/* True if both are about the same server; weights and addresses of SRV targets may differ. */
static int
is_same_record(const struct dns_record *x, const struct dns_record *y)
{
	if (x->type != y->type)
		return 0;
	if (x->type == DNS_SRV)
		return x->port == y->port && strcmp(x->target, y->target) == 0;
	return addr_is_same_host(&x->addr, &y->addr);
}

static struct dns_item *
find_item(const struct dns_answer *a, const struct dns_record *r)
{
	list_each(it, &a->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		if (is_same_record(&i->record, r))
			return i;
	}
	return NULL;
}

static void
add_record(struct dns_answer *a, const struct dns_record *r, uint64_t now_ms)
{
	struct dns_item *i = find_item(a, r);

	if (!i) {
		/* Old ones are removed in time: the bound of a response is enough for the set. */
		i = a->n < 2 * DNS_RECORDS_MAX ? mem_alloc(sizeof(*i)) : NULL;
		if (!i)
			return;
		list_append(&a->items, &i->link);
		a->n++;
	}
	i->record = *r;
	i->seen_ms = now_ms;
	i->round = a->round;
}

static unsigned int
family_bit(const struct addr *a)
{
	return addr_family(a) == AF_INET6 ? DNS_IPV6 : DNS_IPV4;
}

/* True for an address of a family that is not accepted (any more). */
static int
is_not_accepted(const struct dns_record *r, unsigned int families)
{
	return r->addr.len && !(families & family_bit(&r->addr));
}

/* Removes addresses of other families; targets of services lose them only. */
static void
keep_families(struct dns_answer *a, unsigned int families)
{
	list_each_safe(it, &a->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		if (!is_not_accepted(&i->record, families))
			continue;
		i->record.addr.len = 0;
		if (i->record.type != DNS_SRV)
			remove_item(a, i);
	}
}

/* Adds the records of a response, renews those that are known, and removes those that no response
 * had for hold_ms. Without memory, new ones are left out. */
static void
dns_answer_merge(struct dns_answer *a, const struct dns_response *r, uint64_t now_ms,
	unsigned int hold_ms)
{
	a->round++;
	for (unsigned int k = 0; k < r->n; k++)
		add_record(a, &r->record[k], now_ms);
	list_each_safe(it, &a->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		if (i->round != a->round && i->seen_ms + hold_ms <= now_ms)
			remove_item(a, i);
	}
}

/* --- families of addresses --- */

/* A check of the route to IPv6 counts so long. */
#define ROUTE_CHECK_MS 30000

/* Returns 1 if the system has a route to the address of a root server: connect() of a datagram
 * socket sends nothing. */
static int
check_ipv6_route(struct sys *sys)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(DNS_PORT) };
	long fd, r;

	if (inet_pton(AF_INET6, "2001:503:ba3e::2:30", &to.sin6_addr) != 1)
		return 0;
	fd = sys_socket(sys, AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	r = fd < 0 ? fd : sys_connect(sys, (int)fd, (const struct sockaddr *)(const void *)&to,
				  sizeof(to));
	if (fd >= 0)
		(void)sys_close(sys, (int)fd);
	return r == 0;
}

unsigned int
dns_families_now(struct dns_families *f, struct sys *sys, uint64_t now_ms)
{
	if (!f->set || (f->is_auto && !sys))
		return DNS_IPV4 | DNS_IPV6;
	if (!f->is_auto)
		return f->set;
	if (now_ms >= f->until_ms) {
		f->has_route = check_ipv6_route(sys);
		f->until_ms = now_ms + ROUTE_CHECK_MS;
	}
	return f->set | (f->has_route ? DNS_IPV6 : 0u);
}

static void on_lookup_timer(struct timer *t);
static void ask_all(struct dns_lookup *l);

static struct timers *
timers_of(const struct dns_lookup *l)
{
	return loop_timers(l->res->loop);
}

static uint64_t
lookup_now(const struct dns_lookup *l)
{
	return loop_now_ms(l->res->loop);
}

/* --- results --- */

static unsigned int
hold_of(const struct dns_lookup *l, enum dns_status status)
{
	switch (status) {
	case DNS_NX:
		return l->res->hold_ms[HOLD_NX];
	case DNS_REFUSED:
		return l->res->hold_ms[HOLD_REFUSED];
	case DNS_TIMEOUT:
		return l->res->hold_ms[HOLD_TIMEOUT];
	case DNS_VALID:
	case DNS_SERVER_ERROR:
	case DNS_NO_RECORD:
	case DNS_CNAME_ERROR:
	case DNS_TRUNCATED:
	case DNS_INVALID:
	case DNS_STATUSES:
		break;
	}
	return l->res->hold_ms[HOLD_OTHER];
}

/* Stops waiting for the response to this query. */
static void
dns_nameserver_forget(struct dns_query *q)
{
	list_remove(&q->link);
}

static void
stop_asking(struct dns_lookup *l)
{
	if (!l->is_asking)
		return;
	for (unsigned int i = 0; i < l->res->n_nameservers; i++)
		dns_nameserver_forget(&l->query[i]);
	l->is_asking = 0;
	l->res->n_asking--;
}

static struct dns_lookup **
lookup_chain(struct resolvers *res, const char *name)
{
	uint64_t hash = keyhash(&res->key, name, strlen(name));

	return &res->chain[keyhash_slot(hash, RESOLVERS_CHAINS)];
}

static void
join_chain(struct dns_lookup *l)
{
	struct dns_lookup **first = lookup_chain(l->res, l->name);

	l->next = *first;
	*first = l;
}

static void
leave_chain(const struct dns_lookup *l)
{
	struct dns_lookup **at = lookup_chain(l->res, l->name);

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
}

/* Draws a secret key, by which the chains are made again; without random bytes the key stays. */
static void
draw_lookup_key(struct resolvers *res)
{
	uint64_t bits[2];

	if (random_bytes(&res->random, bits, sizeof(bits)) < 0)
		return;
	keyhash_init(&res->key, bits);
	memset(res->chain, 0, sizeof(res->chain));
	list_each(it, &res->lookups)
		join_chain(list_entry(it, struct dns_lookup, link));
}

static void
free_lookup(struct dns_lookup *l)
{
	stop_asking(l);
	if (l->res->loop)
		timer_stop(timers_of(l), &l->timer);
	list_remove(&l->link);
	leave_chain(l);
	l->res->n_lookups--;
	dns_answer_fini(&l->answer);
	mem_free(l);
}

static int
is_answer_fresh(const struct dns_lookup *l)
{
	return l->valid_ms && lookup_now(l) < l->valid_ms + l->res->hold_ms[HOLD_VALID];
}

/* Frees the lookup, which has no watcher left, unless it is to be kept: answers that rules have
 * asked for stay until they are old. */
static void
leave_lookup(struct dns_lookup *l)
{
	if (!list_is_empty(&l->watches) || l->notifying)
		return;
	if (!l->is_kept || !l->res->loop || !is_answer_fresh(l) ||
		timer_set(timers_of(l), &l->timer, l->valid_ms + l->res->hold_ms[HOLD_VALID]) < 0)
		free_lookup(l);
	else
		stop_asking(l);
}

/* Calls each watch once, even if it or others unwatch meanwhile. is_held: the failure is held back,
 * and only reported to watches that ask once. */
static void
notify_watches(struct dns_lookup *l, struct dns_nameserver *by, int is_held)
{
	struct list todo;

	list_init(&todo);
	l->notifying = 1;
	list_move_all(&l->watches, &todo);
	while (!list_is_empty(&todo)) {
		struct dns_watch *w = list_first(&todo, struct dns_watch, link);

		list_remove(&w->link);
		list_append(&l->watches, &w->link);
		if (l->status == DNS_VALID)
			w->on_answer(w, by);
		else if (!is_held || w->asks_once)
			w->on_failure(w, l->status);
		by = NULL;
	}
	l->notifying = 0;
	leave_lookup(l);
}

/* The lookup is over; l may be gone afterwards. */
static void
end_lookup(struct dns_lookup *l, enum dns_status status, struct dns_nameserver *by)
{
	uint64_t now = lookup_now(l), last_ms;

	stop_asking(l);
	l->status = status;
	(void)!timer_set(timers_of(l), &l->timer, now + l->res->resolve_ms);
	if (by)
		l->valid_ms = now;
	else
		l->res->failures++;
	last_ms = MAX(l->valid_ms, l->held_ms);
	notify_watches(l, by, !by && last_ms && now < last_ms + hold_of(l, status));
}

/* --- tries --- */

static enum dns_type
other_type(enum dns_type t)
{
	return t == DNS_A ? DNS_AAAA : t == DNS_AAAA ? DNS_A : t;
}

static unsigned int
family_of(enum dns_type t)
{
	return t == DNS_A ? DNS_IPV4 : t == DNS_AAAA ? DNS_IPV6 : 0;
}

static enum dns_type
first_type(const struct dns_lookup *l)
{
	return l->prefer != DNS_SRV && !(l->families & family_of(l->prefer))
		? other_type(l->prefer) : l->prefer;
}

/* This try had a response from all, or its time is up. */
static void
end_try(struct dns_lookup *l)
{
	enum dns_status error = l->error == DNS_STATUSES ? DNS_TIMEOUT : l->error;

	if (error != DNS_TIMEOUT && l->type == first_type(l) &&
		(l->families & family_of(other_type(l->type)))) {
		l->type = other_type(l->type);
		ask_all(l);
		return;
	}
	if (error != DNS_TIMEOUT)
		l->type = first_type(l);
	if (--l->tries == 0)
		end_lookup(l, error, NULL);
	else
		ask_all(l);
}

/* by_stream: over TCP, for any line of the name server. */
static int
ask_one(struct dns_lookup *l, struct dns_query *q, int by_stream)
{
	uint8_t msg[DNS_QUERY_MAX];
	int n, r;

	dns_nameserver_forget(q);
	q->by_stream = by_stream || q->ns->is_stream;
	r = dns_nameserver_draw_id(q->ns, &q->id);
	if (r < 0)
		return r;
	n = dns_query_write(msg, l->name, l->type, q->id, l->res->payload);
	return n < 0 ? n : dns_nameserver_send(q, msg, (size_t)n);
}

/* Servers that cannot be asked are not waited for; without any the timer continues. */
static void
ask_all(struct dns_lookup *l)
{
	l->asked = l->answered = 0;
	l->error = DNS_STATUSES;
	(void)!timer_set(timers_of(l), &l->timer, lookup_now(l) + l->res->retry_ms);
	for (unsigned int i = 0; i < l->res->n_nameservers; i++)
		if (ask_one(l, &l->query[i], 0) == 0)
			l->asked++;
}

/* Called by resolvers.c: begins a lookup, or stops it and frees it if it has no watch. */
static void
dns_lookup_start(struct dns_lookup *l)
{
	struct resolvers *res = l->res;

	if (l->is_asking)
		return;
	if (!res->n_asking)
		list_each(it, &res->nameservers)
			dns_nameserver_renew(list_entry(it, struct dns_nameserver, link));
	l->is_asking = 1;
	res->n_asking++;
	l->tries = MAX(1u, res->retries);
	l->families = res->families ? dns_families_now(res->families, loop_sys(res->loop),
					      lookup_now(l)) : DNS_IPV4 | DNS_IPV6;
	l->type = first_type(l);
	ask_all(l);
}

static void
dns_lookup_stop(struct dns_lookup *l)
{
	stop_asking(l);
	timer_stop(timers_of(l), &l->timer);
	if (list_is_empty(&l->watches))
		free_lookup(l);
}

static void
on_lookup_timer(struct timer *t)
{
	struct dns_lookup *l = container_of(t, struct dns_lookup, timer);

	if (list_is_empty(&l->watches)) {
		free_lookup(l);
		return;
	}
	if (!l->is_asking) {
		dns_lookup_start(l);
		return;
	}
	for (unsigned int i = 0; i < l->res->n_nameservers; i++)
		if (!list_is_empty(&l->query[i].link))
			l->query[i].ns->stat.timeout++;
	end_try(l);
}
PROFILE_NAME(on_lookup_timer, dns_lookup_timer)

/* --- responses --- */

static void
count_response(struct dns_nameserver_stat *st, const struct dns_response *r)
{
	st->cname += r->has_cname && r->status == DNS_VALID;
	switch (r->status) {
	case DNS_VALID:
		st->valid++;
		break;
	case DNS_NX:
		st->nx++;
		break;
	case DNS_REFUSED:
		st->refused++;
		break;
	case DNS_NO_RECORD:
		st->any_err++;
		break;
	case DNS_CNAME_ERROR:
		st->cname_error++;
		break;
	case DNS_TRUNCATED:
		st->truncated++;
		break;
	case DNS_INVALID:
		st->invalid++;
		break;
	case DNS_SERVER_ERROR:
	case DNS_TIMEOUT:
	case DNS_STATUSES:
		st->other++;
		break;
	}
}

static void
dns_lookup_on_message(struct dns_query *q, const uint8_t *p, size_t n)
{
	struct dns_lookup *l = q->lookup;
	struct dns_response r;
	enum dns_status status;

	if (dns_response_parse(&r, p, n, l->name, l->type) < 0)
		return;
	status = r.status;
	count_response(&q->ns->stat, &r);
	if (status == DNS_VALID) {
		dns_answer_merge(&l->answer, &r, lookup_now(l), l->res->hold_ms[HOLD_OBSOLETE]);
		keep_families(&l->answer, l->families);
		dns_response_fini(&r);
		end_lookup(l, DNS_VALID, q->ns);
		return;
	}
	dns_response_fini(&r);
	/* A datagram that is no response to the question may be forged: the right one may
	 * follow. */
	if (status == DNS_INVALID ||
		(status == DNS_TRUNCATED && !q->by_stream && ask_one(l, q, 1) == 0))
		return;
	dns_nameserver_forget(q);
	l->answered++;
	l->error = status;
	if (l->answered == l->asked)
		end_try(l);
}

/* --- watching --- */

static struct dns_lookup *
find_lookup(struct resolvers *res, const char *name, enum dns_type prefer)
{
	struct dns_lookup *l = *lookup_chain(res, name);

	while (l && (l->prefer != prefer || strcmp(l->name, name) != 0))
		l = l->next;
	return l;
}

static struct dns_lookup *
new_lookup(struct resolvers *res, const char *name, enum dns_type prefer)
{
	struct dns_lookup *l;
	unsigned int i = 0;

	l = mem_zalloc(sizeof(*l) + res->n_nameservers * sizeof(l->query[0]));
	if (!l)
		return NULL;
	l->res = res;
	memcpy(l->name, name, strlen(name) + 1);
	l->prefer = l->type = prefer;
	l->status = l->error = DNS_STATUSES;
	list_init(&l->watches);
	dns_answer_init(&l->answer);
	timer_init(&l->timer, on_lookup_timer);
	list_each(it, &res->nameservers) {
		struct dns_query *q = &l->query[i++];

		list_init(&q->link);
		q->lookup = l;
		q->ns = list_entry(it, struct dns_nameserver, link);
	}
	list_append(&res->lookups, &l->link);
	join_chain(l);
	res->n_lookups++;
	return l;
}

void
dns_watch_init(struct dns_watch *w)
{
	list_init(&w->link);
	w->lookup = NULL;
	w->asks_once = 0;
}

int
dns_lookup_watch(struct resolvers *res, const char *name, enum dns_type prefer, struct dns_watch *w)
{
	char plain[DNS_NAME_MAX + 1];
	struct dns_lookup *l;
	int r = dns_name_set(plain, name);

	assert(!w->lookup);
	if (r < 0)
		return r;
	l = find_lookup(res, plain, prefer);
	if (!l)
		l = new_lookup(res, plain, prefer);
	if (!l)
		return -ERR_NOMEM;
	w->lookup = l;
	list_append(&l->watches, &w->link);
	/* Starts even if others watch it already: its next lookup may be hours away. */
	if (res->loop)
		dns_lookup_start(l);
	return 0;
}

void
dns_lookup_hold(struct dns_watch *w, uint64_t now_ms)
{
	w->lookup->held_ms = now_ms;
}

void
dns_lookup_unwatch(struct dns_watch *w)
{
	struct dns_lookup *l = w->lookup;

	if (!l)
		return;
	list_remove(&w->link);
	w->lookup = NULL;
	leave_lookup(l);
}

int
dns_lookup_ask(struct resolvers *res, const char *name, enum dns_type prefer, struct dns_watch *w,
	const struct dns_answer **known)
{
	char plain[DNS_NAME_MAX + 1];
	struct dns_lookup *l;
	int r = dns_name_set(plain, name);

	if (r < 0)
		return r;
	l = find_lookup(res, plain, prefer);
	if (l && is_answer_fresh(l)) {
		*known = &l->answer;
		return 1;
	}
	w->asks_once = 1;
	if (!l && res->n_lookups >= RESOLVERS_LOOKUPS_MAX)
		return -ERR_FULL;
	r = dns_lookup_watch(res, plain, prefer, w);
	if (r == 0)
		w->lookup->is_kept = 1;
	return r;
}

/* --- sections `resolvers` --- */

/* HAProxy's. */
#define RETRIES_DEFAULT 3
#define TIMEOUT_DEFAULT_MS 1000
#define HOLD_VALID_DEFAULT_MS 10000
#define HOLD_ERROR_DEFAULT_MS 30000

struct resolvers *
resolvers_new(const char *name)
{
	struct resolvers *res = mem_zalloc(sizeof(*res));

	if (!res)
		return NULL;
	res->name = mem_strdup(name);
	if (!res->name) {
		mem_free(res);
		return NULL;
	}
	list_init(&res->link);
	list_init(&res->nameservers);
	list_init(&res->lookups);
	res->key = keyhash_known;
	res->payload = DNS_PAYLOAD_MIN;
	res->retries = RETRIES_DEFAULT;
	res->resolve_ms = res->retry_ms = TIMEOUT_DEFAULT_MS;
	for (int i = HOLD_NX; i < HOLDS; i++)
		res->hold_ms[i] = HOLD_ERROR_DEFAULT_MS;
	res->hold_ms[HOLD_VALID] = HOLD_VALID_DEFAULT_MS;
	res->on_message = dns_lookup_on_message;
	return res;
}

static void
dns_nameserver_free(struct dns_nameserver **nsp)
{
	struct dns_nameserver *ns = *nsp;

	*nsp = NULL;
	assert(ns->fd < 0);
	list_remove(&ns->link);
	mem_free(ns->name);
	mem_free(ns);
}

void
resolvers_free(struct resolvers **rp)
{
	struct resolvers *res = *rp;

	*rp = NULL;
	assert(!res->loop && list_is_empty(&res->lookups));
	list_remove(&res->link);
	list_each_safe(it, &res->nameservers) {
		struct dns_nameserver *ns = list_entry(it, struct dns_nameserver, link);

		dns_nameserver_free(&ns);
	}
	mem_free(res->name);
	mem_free(res);
}

struct dns_nameserver *
resolvers_find_nameserver(const struct resolvers *res, const char *name)
{
	list_each(it, &res->nameservers) {
		struct dns_nameserver *ns = list_entry(it, struct dns_nameserver, link);

		if (strcmp(ns->name, name) == 0)
			return ns;
	}
	return NULL;
}

int
resolvers_start(struct resolvers *res, struct loop *loop)
{
	res->buf = mem_alloc(res->payload + 1);
	if (!res->buf)
		return -ERR_NOMEM;
	res->loop = loop;
	random_init(&res->random, loop_sys(loop));
	draw_lookup_key(res);
	list_each(it, &res->nameservers)
		dns_nameserver_start(list_entry(it, struct dns_nameserver, link));
	list_each(it, &res->lookups)
		dns_lookup_start(list_entry(it, struct dns_lookup, link));
	return 0;
}

void
resolvers_stop(struct resolvers *res)
{
	if (!res->loop)
		return;
	list_each_safe(it, &res->lookups)
		dns_lookup_stop(list_entry(it, struct dns_lookup, link));
	list_each(it, &res->nameservers)
		dns_nameserver_stop(list_entry(it, struct dns_nameserver, link));
	mem_free(res->buf);
	res->buf = NULL;
	res->loop = NULL;
}

/* --- resolv.conf ----------------------------------------------------------------------------- */

/* Lines `nameserver` of resolv.conf(5). Main thread, at start. */

#define BLANKS " \t\r\n"

/* 1: it was added, 0: it is no address or known, or -ERR_NOMEM. */
static int
add_conf_nameserver(struct resolvers *res, const char *text)
{
	struct dns_nameserver *ns;
	struct addr a;

	if (addr_parse_ip(text, &a) < 0 || resolvers_find_nameserver(res, text))
		return 0;
	ns = dns_nameserver_new(res, text);
	if (!ns)
		return -ERR_NOMEM;
	ns->where = res->where;
	ns->addr = a;
	addr_set_port(&ns->addr, DNS_PORT);
	list_append(&res->nameservers, &ns->link);
	res->n_nameservers++;
	return 1;
}

int
resolv_conf_add(struct resolvers *res, char *text)
{
	char *line, *rest = text, *word, *in_line;
	int n = 0, r;

	while ((line = strsep(&rest, "\n")) != NULL) {
		in_line = NULL;
		word = strtok_r(line, BLANKS, &in_line);
		if (!word || strcmp(word, "nameserver") != 0)
			continue;
		word = strtok_r(NULL, BLANKS, &in_line);
		r = word ? add_conf_nameserver(res, word) : 0;
		if (r < 0)
			return r;
		n += r;
	}
	return n;
}
