/* Crt-lists by name, and the settings of their lines. Main thread, or the first worker. */
#include "tls/crt_lists.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/tls_conf.h"

static struct tls_crt_list *
find_list(const struct list *lists, const char *name)
{
	list_each(it, lists) {
		struct tls_crt_list *l = list_entry(it, struct tls_crt_list, link);

		if (strcmp(l->name, name) == 0)
			return l;
	}
	return NULL;
}

struct tls_crt_list *
tls_crt_lists_find_path(const struct list *lists, const char *path)
{
	size_t n = strlen(path);
	struct tls_crt_list *l;
	char *name;

	while (n > 1 && path[n - 1] == '/')
		n--;
	name = mem_strndup(path, n);
	l = name ? find_list(lists, name) : NULL;
	mem_free(name);
	return l;
}

struct tls_crt_list *
tls_crt_lists_take(struct list *lists, const char *name)
{
	struct tls_crt_list *l = find_list(lists, name);
	struct list *at = lists->next;

	if (l)
		return l;
	l = mem_zalloc(sizeof(*l));
	if (l)
		l->name = mem_strdup(name);
	if (!l || !l->name) {
		mem_free(l);
		return NULL;
	}
	list_init(&l->link);
	while (at != lists && strcmp(list_entry(at, struct tls_crt_list, link)->name, name) < 0)
		at = at->next;
	list_append(at, &l->link);
	return l;
}

void
tls_crt_lists_free(struct list *lists)
{
	list_each_safe(it, lists) {
		struct tls_crt_list *l = list_entry(it, struct tls_crt_list, link);

		mem_free(l->name);
		mem_free(l);
	}
	list_init(lists);
}

static int
copy_filters(struct tls_line *l, const struct tls_list_line *from)
{
	if (!from->n_filters)
		return 0;
	l->filter = mem_zalloc(from->n_filters * sizeof(char *));
	if (!l->filter)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < from->n_filters; i++) {
		l->filter[i] = mem_strdup(from->filter[i]);
		if (!l->filter[i])
			return -ERR_NOMEM;
		l->n_filters++;
	}
	return 0;
}

int
tls_line_fill(struct tls_line *l, struct tls_bind *b, struct tls_crt_list *list,
	const struct tls_list_line *from)
{
	struct tls_variant *v;

	l->list = list;
	if (from->has_options) {
		l->options = tls_list_options(&from->own, b->conf->files.ca_base);
		if (!l->options)
			return -ERR_NOMEM;
	}
	v = tls_bind_variant(b, &from->own);
	if (!v)
		return -ERR_NOMEM;
	tls_line_use(l, v);
	return copy_filters(l, from);
}
