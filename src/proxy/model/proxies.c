#include "proxy/model/proxies.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/config/vocab.h"

void
proxies_init(struct proxies *ps)
{
	list_init(&ps->all);
	list_init(&ps->defaults);
	list_init(&ps->error_groups);
	ps->n = 0;
	memset(&ps->frontends, 0, sizeof(ps->frontends));
	memset(&ps->backends, 0, sizeof(ps->backends));
	memset(&ps->error_group_names, 0, sizeof(ps->error_group_names));
	ps->cookie_max = CAPTURE_COOKIE_MAX;
	ps->capture_size = 0;
	log_global_init(&ps->log);
	proxy_vocab_init(&ps->vocab);
	pattern_files_init(&ps->files, NULL);
	ps->vocab.files = &ps->files;
	userlists_init(&ps->userlists);
}

static void
free_all(struct list *l)
{
	list_each_safe(it, l) {
		struct proxy *p = list_entry(it, struct proxy, link);

		proxy_free(&p);
	}
}

void
proxies_fini(struct proxies *ps)
{
	free_all(&ps->all);
	free_all(&ps->defaults);
	pattern_files_fini(&ps->files);
	userlists_fini(&ps->userlists);
	name_index_fini(&ps->frontends);
	name_index_fini(&ps->backends);
	name_index_fini(&ps->error_group_names);
	list_each_safe(it, &ps->error_groups) {
		struct error_group *g = list_entry(it, struct error_group, link);

		error_group_free(&g);
	}
	ps->n = 0;
	log_global_fini(&ps->log);
}

int
proxies_add(struct proxies *ps, struct proxy *p)
{
	list_append(&ps->all, &p->link);
	ps->n++;
	if ((p->caps & PROXY_FE) && name_index_add(&ps->frontends, p->name, p) < 0)
		return -ERR_NOMEM;
	return p->caps & PROXY_BE ? name_index_add(&ps->backends, p->name, p) : 0;
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
