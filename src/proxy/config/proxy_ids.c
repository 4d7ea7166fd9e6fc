/* Names and ids: which may not be the same, and those that were not given. */
#include "proxy/config/proxy_ids.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/diag.h"
#include "proxy/model/proxies.h"

static struct proxy *
proxy_at(struct list *it)
{
	return list_entry(it, struct proxy, link);
}

/* A proxy and its index. */
struct entry {
	struct proxy *p;
	unsigned int at;
};

static int
by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = strcmp(x->p->name, y->p->name);

	return r != 0 ? r : x->at < y->at ? -1 : x->at > y->at;
}

static int
by_id(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->p->id != y->p->id)
		return x->p->id < y->p->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* A frontend and a backend may have the same name; other proxies may not. */
static void
check_names(struct entry *sorted, unsigned int n, struct cfg_diag *d)
{
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (unsigned int i = 1; i < n; i++) {
		for (unsigned int k = i; k-- > 0;) {
			const struct proxy *p = sorted[i].p, *other = sorted[k].p;

			if (strcmp(p->name, other->name) != 0)
				break;
			if (!(p->caps & other->caps))
				continue;
			cfg_diag_add(d, CFG_ALERT, &p->where,
				"%s '%s' has the same name as %s '%s' declared at %s:%u.",
				proxy_kind(p), p->name, proxy_kind(other), other->name,
				proxy_file(other), other->where.line);
			break;
		}
	}
}

static void
check_ids(struct entry *sorted, unsigned int n, struct cfg_diag *d)
{
	qsort(sorted, n, sizeof(*sorted), by_id);
	for (unsigned int i = 1; i < n; i++) {
		const struct proxy *p = sorted[i].p, *other = sorted[i - 1].p;

		if (p->id && p->id == other->id)
			cfg_diag_add(d, CFG_ALERT, &p->where,
				"%s '%s' reuses the custom id %d of %s '%s' (declared at %s:%u).",
				proxy_kind(p), p->name, p->id, proxy_kind(other), other->name,
				proxy_file(other), other->where.line);
	}
}

/*
 * Assigns missing ids: the next free number, in file order. As in HAProxy configured ids are
 * skipped, so that the same file yields the same ids. `used` is sorted.
 */
struct id_counter {
	const int *used;
	unsigned int n_used, at;
	int next;
};

static int
next_id(struct id_counter *c, int given)
{
	int id = given;

	if (!given) {
		while (c->at < c->n_used && c->used[c->at] <= c->next) {
			if (c->used[c->at] == c->next)
				c->next++;
			c->at++;
		}
		id = c->next;
	}
	if (c->next < INT_MAX)
		c->next++;
	return id;
}

static int
compare_ids(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

/* A descriptor has 16 bits for it: calls of frontends that come behind are counted together. */
static unsigned int
next_account(struct proxies *ps, const struct proxy *p)
{
	return (p->caps & PROXY_FE) && ps->n_accounts < UINT16_MAX ? ++ps->n_accounts : 0;
}

/* As in HAProxy the internal frontend takes its place's id, also if a proxy has it. */
static void
assign_proxy_ids(struct proxies *ps, int *used)
{
	struct id_counter c = { .used = used, .next = 1 };
	unsigned int i = 0;

	list_each(it, &ps->all) {
		if (proxy_at(it)->id)
			used[c.n_used++] = proxy_at(it)->id;
	}
	qsort(used, c.n_used, sizeof(*used), compare_ids);
	list_each(it, &ps->all) {
		if (ps->has_admin_frontend && i++ == ps->n_before_admin)
			c.next++;
		proxy_at(it)->has_own_id = proxy_at(it)->id != 0;
		proxy_at(it)->id = next_id(&c, proxy_at(it)->id);
		proxy_at(it)->account = next_account(ps, proxy_at(it));
	}
}

static int
assign_server_ids(struct proxy *p)
{
	int *used = mem_alloc(MAX(p->n_servers, 1) * sizeof(int));
	struct id_counter c = { .used = used, .next = 1 };

	if (!used)
		return -ERR_NOMEM;
	list_each(it, &p->servers) {
		const struct server *s = list_entry(it, struct server, link);

		if (s->id)
			used[c.n_used++] = s->id;
	}
	qsort(used, c.n_used, sizeof(*used), compare_ids);
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		s->has_own_id = s->id != 0;
		s->id = next_id(&c, s->id);
	}
	mem_free(used);
	return 0;
}

/* Returns the number of lines with an id; used NULL: only counts. */
static unsigned int
bind_ids(struct proxy *p, int *used)
{
	unsigned int n = 0;

	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, struct bind_conf, link);

		if (!b->id)
			continue;
		if (used)
			used[n] = b->id;
		n++;
	}
	return n;
}

/* A bind line and its index in its proxy. */
struct bind_entry {
	const struct bind_conf *b;
	unsigned int at;
};

static int
by_bind_id(const void *a, const void *b)
{
	const struct bind_entry *x = a, *y = b;

	if (x->b->id != y->b->id)
		return x->b->id < y->b->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int
check_bind_ids(struct proxy *p, struct cfg_diag *d)
{
	unsigned int n = 0;
	struct bind_entry *sorted = mem_alloc(MAX(bind_ids(p, NULL), 1) * sizeof(*sorted));

	if (!sorted)
		return -ERR_NOMEM;
	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		if (b->id) {
			sorted[n] = (struct bind_entry){ b, n };
			n++;
		}
	}
	qsort(sorted, n, sizeof(*sorted), by_bind_id);
	for (unsigned int i = 1, first = 0; i < n; i++) {
		const struct bind_conf *b = sorted[i].b, *o = sorted[first].b;

		if (o->id != b->id)
			first = i;
		else
			cfg_diag_add(d, CFG_ALERT, &b->where,
				"'bind' : 'id' : custom id %d already used at %s:%u.", b->id,
				o->where.file ? o->where.file->name : "?", o->where.line);
	}
	mem_free(sorted);
	return 0;
}

static int
assign_listener_ids(struct proxy *p)
{
	unsigned int n = bind_ids(p, NULL);
	int *used = mem_alloc(MAX(n, 1) * sizeof(int));
	struct id_counter c = { .used = used, .n_used = n, .next = 1 };

	if (!used)
		return -ERR_NOMEM;
	bind_ids(p, used);
	qsort(used, n, sizeof(*used), compare_ids);
	list_each(it, &p->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(at, &b->listeners) {
			struct listener *ln = list_entry(at, struct listener, link);

			ln->id = next_id(&c, b->id);
		}
	}
	mem_free(used);
	return 0;
}

int
proxy_assign_ids(struct proxy *p, struct cfg_diag *d)
{
	int r = assign_listener_ids(p);

	if (r == 0)
		r = check_bind_ids(p, d);
	return r ? r : assign_server_ids(p);
}

int
proxies_check_distinct(struct proxies *ps, struct cfg_diag *d)
{
	unsigned int n = 0;
	struct entry *sorted = mem_alloc(MAX(ps->n, 1) * sizeof(*sorted));
	int *used = mem_alloc(MAX(ps->n, 1) * sizeof(int));
	int r = sorted && used ? 0 : -ERR_NOMEM;

	if (r == 0) {
		list_each(it, &ps->all) {
			sorted[n].p = proxy_at(it);
			sorted[n].at = n;
			n++;
		}
		check_names(sorted, n, d);
		check_ids(sorted, n, d);
		assign_proxy_ids(ps, used);
	}
	mem_free(sorted);
	mem_free(used);
	return r;
}
