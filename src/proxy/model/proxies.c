#include "proxy/model/proxies.h"

#include <string.h>

#include "base/mem.h"
#include "proxy/config/vocab.h"

void
proxies_init(struct proxies *ps)
{
	list_init(&ps->all);
	list_init(&ps->defaults);
	list_init(&ps->error_groups);
	ps->n = ps->n_by_name = 0;
	ps->by_name = NULL;
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
	mem_free(ps->by_name);
	ps->by_name = NULL;
	ps->n_by_name = 0;
	list_each_safe(it, &ps->error_groups) {
		struct error_group *g = list_entry(it, struct error_group, link);

		error_group_free(&g);
	}
	ps->n = 0;
	log_global_fini(&ps->log);
}

struct proxy *
proxies_find(const struct proxies *ps, const char *name, unsigned int caps)
{
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

struct proxy *
proxies_find_backend(const struct proxies *ps, const char *name)
{
	unsigned int from = 0, to = ps->n_by_name;

	while (from < to) {
		unsigned int mid = from + (to - from) / 2;

		if (strcmp(ps->by_name[mid]->name, name) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from < ps->n_by_name && strcmp(ps->by_name[from]->name, name) == 0
		? ps->by_name[from]
		: NULL;
}
