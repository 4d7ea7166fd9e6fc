/* Persistence settings of a backend: main thread while the configuration is read, only read after
 * that. The first worker writes dynamic cookies, all read them: each value is one word. Their hash
 * is HAProxy's: XXH64 of key, address and port. */
#include "proxy/model/persist_conf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxies.h"
#include "proxy/model/table_sample.h"
#include "base/atomic.h"
#include "proxy/model/proxy.h"

/* --- dynamic cookies --- */

#define IP_MAX 16

/* The bytes of the address; 0 if it has none. */
static size_t
copy_ip(const struct addr *a, unsigned char to[IP_MAX])
{
	if (addr_family(a) == AF_INET) {
		memcpy(to, &a->u.in.sin_addr, sizeof(a->u.in.sin_addr));
		return sizeof(a->u.in.sin_addr);
	}
	if (addr_family(a) != AF_INET6)
		return 0;
	memcpy(to, &a->u.in6.sin6_addr, IP_MAX);
	return IP_MAX;
}

static uint64_t
make_cookie(const char *key, const struct server *s)
{
	unsigned char text[DYNAMIC_COOKIE_KEY_MAX + IP_MAX + sizeof(uint32_t)];
	size_t n = strlen(key), ip;
	struct addr a;
	uint32_t port;

	(void)addr_cell_get(&s->addr, &a);
	assert(n <= DYNAMIC_COOKIE_KEY_MAX);
	memcpy(text, key, n);
	ip = copy_ip(&a, text + n);
	if (!ip)
		return 0;
	n += ip;
	port = htonl(s->spec.has_offset ? (uint32_t)s->spec.port_offset & 0xffff : addr_port(&a));
	memcpy(text + n, &port, sizeof(port));
	return XXH64(text, n + sizeof(port), 0);
}

void
dynamic_cookie_set(struct server *s)
{
	const struct dynamic_cookies *d = &s->be->persist.dynamic;

	if (s->dynamic)
		atomic_write(&s->dynamic->value, d->is_on && d->key ? make_cookie(d->key, s) : 0);
}

void
dynamic_cookies_set(struct proxy *p)
{
	for (unsigned int i = 0; i < p->persist.dynamic.n; i++)
		dynamic_cookie_set(p->persist.dynamic.entry[i].srv);
}

/* Allocates and makes those of p, when its servers are known. 0 or -ERR_NOMEM. */
static int
dynamic_cookies_make(struct proxy *p)
{
	struct dynamic_cookie *entry = mem_zalloc(MAX(p->n_servers, 1) * sizeof(*entry));
	struct dynamic_cookies *d = &p->persist.dynamic;

	if (!entry)
		return -ERR_NOMEM;
	mem_free(d->entry);
	d->entry = entry;
	d->n = 0;
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (s->conf.cookie)
			continue;
		s->dynamic = &d->entry[d->n++];
		s->dynamic->srv = s;
	}
	dynamic_cookies_set(p);
	return 0;
}

/* A server is removed, while the workers are paused. */
static void
dynamic_cookies_forget(struct dynamic_cookies *d, struct server *s)
{
	unsigned int at;

	if (!s->dynamic)
		return;
	at = (unsigned int)(s->dynamic - d->entry);
	s->dynamic = NULL;
	for (d->n--; at < d->n; at++) {
		d->entry[at] = d->entry[at + 1];
		d->entry[at].srv->dynamic = &d->entry[at];
	}
}

static void
dynamic_cookies_fini(struct dynamic_cookies *d)
{
	mem_free(d->entry);
	mem_free(d->key);
	memset(d, 0, sizeof(*d));
}

/* True if two servers have the same one, which is that of the first. */
static int
dynamic_cookies_collide(const struct dynamic_cookies *d)
{
	for (unsigned int i = 1; i < d->n; i++)
		for (unsigned int k = 0; k < i; k++)
			if (d->entry[i].value && d->entry[i].value == d->entry[k].value)
				return 1;
	return 0;
}

/* --- while sessions run --- */

uint64_t
dynamic_cookie_parse(struct str text)
{
	uint64_t v = 0;

	if (text.len != DYNAMIC_COOKIE_TEXT - 1)
		return 0;
	for (size_t i = 0; i < text.len; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *at = memchr(digits, text.p[i], sizeof(digits) - 1);

		if (!at)
			return 0;
		v = v << 4 | (uint64_t)(at - digits);
	}
	return v;
}

struct server *
dynamic_cookie_next(const struct dynamic_cookies *d, uint64_t value, unsigned int *at)
{
	while (value && *at < d->n) {
		const struct dynamic_cookie *c = &d->entry[(*at)++];

		if (atomic_read(&c->value) == value)
			return c->srv;
	}
	return NULL;
}

const char *
server_cookie(const struct server *s, char text[DYNAMIC_COOKIE_TEXT])
{
	uint64_t v = s->dynamic ? atomic_read(&s->dynamic->value) : 0;

	if (s->conf.cookie || !v)
		return s->conf.cookie;
	(void)snprintf(text, DYNAMIC_COOKIE_TEXT, "%016" PRIx64, v);
	return text;
}

void
persist_conf_init(struct persist_conf *c)
{
	memset(c, 0, sizeof(*c));
	list_init(&c->rules);
	list_init(&c->uses);
	list_init(&c->sticks);
}

void
persist_rule_free(struct persist_rule **r)
{
	if (!*r)
		return;
	list_remove(&(*r)->link);
	rule_cond_free(&(*r)->cond);
	rule_fmt_free(&(*r)->fmt);
	mem_free((*r)->name);
	mem_free(*r);
	*r = NULL;
}

void
stick_rule_free(struct stick_rule **r)
{
	if (!*r)
		return;
	list_remove(&(*r)->link);
	rule_cond_free(&(*r)->cond);
	rule_expr_free(&(*r)->expr);
	mem_free((*r)->table_name);
	mem_free(*r);
	*r = NULL;
}

void
persist_conf_drop_cookie(struct persist_conf *c)
{
	mem_free(c->name);
	mem_free(c->attrs);
	c->name = c->attrs = NULL;
	c->way = PERSIST_PASSIVE;
	c->indirect = c->nocache = c->postonly = c->preserve = 0;
	c->max_idle = c->max_life = 0;
	c->dynamic.is_on = 0;
}

static void
free_rules(struct list *l)
{
	list_each_safe(it, l) {
		struct persist_rule *r = list_entry(it, struct persist_rule, link);

		persist_rule_free(&r);
	}
}

void
persist_conf_fini(struct persist_conf *c)
{
	persist_conf_drop_cookie(c);
	mem_free(c->extra);
	c->extra = NULL;
	free_rules(&c->rules);
	free_rules(&c->uses);
	list_each_safe(it, &c->sticks) {
		struct stick_rule *r = list_entry(it, struct stick_rule, link);

		stick_rule_free(&r);
	}
	dynamic_cookies_fini(&c->dynamic);
	mem_free(c->rdp_cookie);
	c->rdp_cookie = NULL;
	mem_free(c->entry);
	c->entry = NULL;
	c->n_entries = 0;
}

int
persist_conf_inherit(struct persist_conf *c, const struct persist_conf *defaults)
{
	c->way = defaults->way;
	c->indirect = defaults->indirect;
	c->nocache = defaults->nocache;
	c->postonly = defaults->postonly;
	c->preserve = defaults->preserve;
	c->max_idle = defaults->max_idle;
	c->max_life = defaults->max_life;
	c->where = defaults->where;
	c->dynamic.is_on = defaults->dynamic.is_on;
	c->rdp_where = defaults->rdp_where;
	if (mem_copy_string(&c->dynamic.key, defaults->dynamic.key) < 0 ||
		mem_copy_string(&c->rdp_cookie, defaults->rdp_cookie) < 0)
		return -ERR_NOMEM;
	if (mem_copy_string(&c->name, defaults->name) < 0 ||
		mem_copy_string(&c->extra, defaults->extra) < 0)
		return -ERR_NOMEM;
	return mem_copy_string(&c->attrs, defaults->attrs);
}

int
persist_conf_shows(const struct persist_conf *c)
{
	return c->name && (c->way != PERSIST_PASSIVE || c->indirect);
}

/* --- the servers of a cookie --- */

static int
compare_cookie(const char *a, struct str b)
{
	size_t n = strlen(a);
	int r = memcmp(a, b.p, MIN(n, b.len));

	return r ? r : n < b.len ? -1 : n > b.len;
}

static int
by_cookie(const void *a, const void *b)
{
	const struct persist_entry *x = a, *y = b;
	int r = strcmp(x->srv->conf.cookie, y->srv->conf.cookie);

	return r ? r : x->at < y->at ? -1 : x->at > y->at;
}

int
persist_conf_index(struct proxy *p)
{
	struct persist_conf *c = &p->persist;
	struct persist_entry *entry;
	unsigned int n = 0;

	if (!c->name)
		return 0;
	entry = mem_alloc(MAX(p->n_servers, 1) * sizeof(*entry));
	if (!entry)
		return -ERR_NOMEM;
	mem_free(c->entry);
	c->entry = entry;
	c->n_entries = 0;
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (s->conf.cookie)
			c->entry[c->n_entries++] = (struct persist_entry){ s, n };
		n++;
	}
	qsort(c->entry, c->n_entries, sizeof(*c->entry), by_cookie);
	return dynamic_cookies_make(p);
}

void
persist_conf_forget(struct persist_conf *c, struct server *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n_entries; i++)
		if (c->entry[i].srv != s)
			c->entry[n++] = c->entry[i];
	c->n_entries = n;
	dynamic_cookies_forget(&c->dynamic, s);
}

unsigned int
persist_conf_find(const struct persist_conf *c, struct str cookie, unsigned int *n)
{
	unsigned int from = 0, to = c->n_entries;

	while (from < to) {
		unsigned int mid = from + (to - from) / 2;

		if (compare_cookie(c->entry[mid].srv->conf.cookie, cookie) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	for (*n = 0; from + *n < c->n_entries; ++*n)
		if (compare_cookie(c->entry[from + *n].srv->conf.cookie, cookie) != 0)
			break;
	return from;
}

/* --- the whole configuration is known --- */

unsigned int
persist_scope(const struct proxy *be)
{
	unsigned int at = SAMPLE_AT_CONN | SAMPLE_AT_BACK;

	return be->mode == PROXY_HTTP || be->persist.looks ? at | SAMPLE_AT_REQ : at;
}

static void
check_rule(struct proxy *p, struct persist_rule *r, struct proxies *root, struct cfg_diag *d)
{
	static const char *const names[] = { [PERSIST_FORCE] = "force-persist",
		[PERSIST_IGNORE] = "ignore-persist", [PERSIST_USE] = "use-server" };
	unsigned int uses = rule_cond_needs(r->cond) | rule_cond_uses(r->cond) |
		(r->fmt ? rule_fmt_needs(r->fmt) | rule_fmt_uses(r->fmt) : 0);
	struct rule_err why;

	if (p->mode == PROXY_TCP && (uses & SAMPLE_AT_REQ))
		p->persist.looks = 1;
	if (rule_cond_check(r->cond, root, &why) < 0 ||
		(r->fmt && rule_fmt_check(r->fmt, root, &why) < 0))
		cfg_diag_add(
			d, CFG_ALERT, &r->where, "'%s' : %s.", names[r->what], why.text);
	if (r->what != PERSIST_USE || r->fmt)
		return;
	r->srv = proxy_find_server(p, str_of(r->name));
	if (r->srv)
		r->srv->is_referenced = 1;
	else
		cfg_diag_add(d, CFG_ALERT, &r->where,
			"backend '%s' : unable to find server '%s' referenced in a 'use-server' "
			"rule.",
			p->name, r->name);
}

/* True if the expression and the condition can be evaluated where this line is. */
static int
stick_fits(const struct proxy *p, const struct stick_rule *r)
{
	unsigned int at = persist_scope(p) | SAMPLE_AT_REQ;

	if (r->what & STICK_STORE_RESPONSE)
		at |= SAMPLE_AT_RES | SAMPLE_AT_SERVER;
	return rule_expr_fits(r->expr, at) && (!r->cond || !(rule_cond_needs(r->cond) & ~at));
}

/* The table has to store servers. */
static void
check_stick(struct proxy *p, struct stick_rule *r, struct proxies *root, struct cfg_diag *d)
{
	struct rule_err why;

	r->table = proxies_find_table(root, r->table_name);
	if (!stick_fits(p, r))
		cfg_diag_add(d, CFG_ALERT, &r->where,
			"'stick' : the pattern or the condition is not available here.");
	else if (rule_expr_check(r->expr, root, &why) < 0 ||
		(r->cond && rule_cond_check(r->cond, root, &why) < 0))
		cfg_diag_add(d, CFG_ALERT, &r->where, "'stick' : %s.", why.text);
	else if (!r->table)
		cfg_diag_add(d, CFG_ALERT, &r->where,
			"'stick' : there is no stick-table '%.100s'.", r->table_name);
	else if (!sample_can_cast(rule_expr_type(r->expr),
			 table_sample_type(table_conf_of(r->table))))
		cfg_diag_add(d, CFG_ALERT, &r->where,
			"'stick' : the stick-table '%.100s' has keys of type %s, which the "
			"pattern cannot become.", r->table_name,
			table_type_name(table_conf_of(r->table)->type));
	else if (table_want(r->table, TABLE_SERVER_ID) < 0 ||
		table_want(r->table, TABLE_SERVER_KEY) < 0)
		cfg_diag_add(d, CFG_ALERT, &r->where,
			"'stick' : an entry of the stick-table '%.100s' with servers, and with the "
			"counts of %u peers, is longer than 64 kB: store less.",
			r->table_name, table_parts(r->table));
}

static void
check_sticks(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	list_each(it, &p->persist.sticks)
		check_stick(p, list_entry(it, struct stick_rule, link), root, d);
}

static void
check_dynamic(const struct proxy *p, struct cfg_diag *d)
{
	const struct persist_conf *c = &p->persist;

	if (c->dynamic.is_on && !c->dynamic.key)
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"backend '%s' : without a 'dynamic-cookie-key' servers have no dynamic "
			"cookies.",
			p->name);
	if (dynamic_cookies_collide(&c->dynamic))
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"We generated two equal cookies for two different servers. Please change "
			"the secret key for '%s'.",
			p->name);
}

int
persist_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	struct persist_conf *c = &p->persist;

	list_each(it, &c->rules)
		check_rule(p, list_entry(it, struct persist_rule, link), root, d);
	list_each(it, &c->uses)
		check_rule(p, list_entry(it, struct persist_rule, link), root, d);
	check_sticks(p, root, d);
	if ((p->caps & PROXY_BE) && c->rdp_cookie && p->mode == PROXY_HTTP && !p->disabled)
		cfg_diag_add(d, CFG_WARNING, &c->rdp_where,
			"'persist rdp-cookie' will be ignored for backend " CFG_DIAG_NAME "'%s'"
			CFG_DIAG_NAME " (needs 'mode tcp').",
			p->name);
	if (!(p->caps & PROXY_BE) || !c->name)
		return 0;
	if (p->mode != PROXY_HTTP && !p->disabled)
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"cookie will be ignored for backend " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
			" (needs 'mode http').", p->name);
	if (persist_conf_index(p) < 0)
		return -ERR_NOMEM;
	check_dynamic(p, d);
	return 0;
}
