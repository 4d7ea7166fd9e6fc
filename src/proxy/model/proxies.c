/* All proxies of a configuration, by name. Main thread; the list does not change once workers
 * run. */
#include "proxy/model/proxies.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "dns/resolvers.h"
#include "proxy/model/caching.h"

int
proxies_add(struct proxies *ps, struct proxy *p)
{
	list_append(&ps->all, &p->link);
	ps->n++;
	if ((p->caps & PROXY_FE) && name_index_add(&ps->frontends, p->name, p) < 0)
		return -ERR_NOMEM;
	return p->caps & PROXY_BE ? name_index_add(&ps->backends, p->name, p) : 0;
}

void
proxies_note_admin(struct proxies *ps)
{
	if (ps->has_admin_frontend)
		return;
	ps->has_admin_frontend = 1;
	ps->n_before_admin = ps->n;
}

void
proxies_note_unpublished(struct proxies *ps)
{
	int is_any = 0;

	list_each(it, &ps->all)
		is_any |= list_entry(it, const struct proxy, link)->unpublished;
	list_each(it, &ps->all)
		list_entry(it, struct proxy, link)->passes_over = is_any;
}

void
proxies_unpublish_disabled(struct proxies *ps)
{
	int is_forced = 0;

	list_each(it, &ps->all) {
		const struct proxy *fe = list_entry(it, const struct proxy, link);

		is_forced |= !fe->disabled && !list_is_empty(&fe->be_switches);
	}
	list_each(it, &ps->all) {
		struct proxy *be = list_entry(it, struct proxy, link);

		if (!is_forced || !be->disabled || (be->caps & PROXY_FE))
			continue;
		be->disabled = 0;
		be->unpublished = 1;
	}
	proxies_note_unpublished(ps);
}

struct proxy *
proxies_find(const struct proxies *ps, const char *name, unsigned int caps)
{
	if (caps == PROXY_FE)
		return name_index_find(&ps->frontends, name);
	if (caps == PROXY_BE)
		return name_index_find(&ps->backends, name);
	list_each(it, &ps->all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if ((p->caps & caps) && strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

struct resolvers *
proxies_find_resolvers(const struct proxies *ps, const char *name)
{
	list_each(it, &ps->resolvers) {
		struct resolvers *res = list_entry(it, struct resolvers, link);

		if (strcmp(res->name, name) == 0)
			return res;
	}
	return NULL;
}

struct table *
proxies_find_table(const struct proxies *ps, const char *name)
{
	const struct proxy *p = name_index_find(&ps->tables, name);

	if (p)
		return p->table;
	list_each(it, &ps->peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		list_each(tt, &c->tables) {
			const struct peers_table *t =
				list_entry(tt, const struct peers_table, link);

			if (strcmp(t->name, name) == 0)
				return t->table;
		}
	}
	return NULL;
}

struct cache_section *
proxies_find_cache(const struct proxies *ps, const char *name)
{
	list_each(it, &ps->caches) {
		struct cache_section *c = list_entry(it, struct cache_section, link);

		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

struct peers_conf *
proxies_find_peers(const struct proxies *ps, const char *name)
{
	list_each(it, &ps->peers) {
		struct peers_conf *c = list_entry(it, struct peers_conf, link);

		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

struct proxy *
proxies_find_id(const struct proxies *ps, int id)
{
	list_each(it, &ps->all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if (p->id == id)
			return p;
	}
	return NULL;
}
