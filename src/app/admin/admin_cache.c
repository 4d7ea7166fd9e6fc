/* show cache (management manual 9.3), clear cache: on the first worker, while others use the
 * caches. */
#include <inttypes.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "proxy/model/caching.h"
#include "proxy/model/proxies.h"

/* Objects that are shown in one step. */
#define OBJECTS_STEP 64

/* Where `show cache` is. */
struct caches_walked {
	const struct list *next; /* struct cache_section.link */
	struct cache_walked at;
};

static struct cache_caller
cache_caller_of(const struct admin_conn *c)
{
	return (struct cache_caller){ .sys = c->admin->worker->sys, .now_ms = admin_now_ms(c) };
}

static const struct list *
all_caches(const struct admin_conn *c)
{
	return &c->admin->process->cfg->proxies.caches;
}

static void
show_object(struct sbuf *out, const struct cache_shown *x)
{
	/* As HAProxy shows bytes in memory. */
	sbuf_addf(out, "%p hash:%" PRIu32 " vary:0x%08" PRIx32 "%08" PRIx32 " size:%" PRIu64
		" (%" PRIu32 " blocks), refcount:%u, expire:%" PRId64 "\n", x->id, x->hash,
		__builtin_bswap32(x->codings), x->texts, x->size, x->blocks, x->refs,
		(x->expires_ms + 999) / 1000);
}

static int
is_begun(const struct cache_walked *at)
{
	return at->chains || at->objects;
}

static int
walk_caches(struct admin_conn *c, void *state)
{
	struct caches_walked *w = state;
	struct cache_caller by = cache_caller_of(c);
	struct cache_shown shown[OBJECTS_STEP];
	struct cache *cache = list_entry(w->next, const struct cache_section, link)->store;
	unsigned int n;

	if (!is_begun(&w->at))
		sbuf_addf(&c->out, "%p: %s (shctx:%p, available blocks:%" PRIu32 ")\n",
			(const void *)cache, cache_name(cache), (const void *)cache,
			cache_available(cache, &by));
	n = cache_walk(cache, &by, &w->at, shown, OBJECTS_STEP);
	for (unsigned int i = 0; i < n; i++)
		show_object(&c->out, &shown[i]);
	if (!is_begun(&w->at))
		w->next = w->next->next;
	return w->next != all_caches(c);
}

void
admin_cmd_show_cache(struct admin_conn *c, int argc, char **argv)
{
	struct caches_walked w = { all_caches(c)->next, { 0, 0 } };

	(void)argc;
	(void)argv;
	if (w.next != all_caches(c))
		admin_walk(c, walk_caches, &w, sizeof(w));
}

void
admin_cmd_clear_cache(struct admin_conn *c, int argc, char **argv)
{
	struct cache_caller by = cache_caller_of(c);
	const struct cache_section *s =
		argc ? proxies_find_cache(&c->admin->process->cfg->proxies, argv[0]) : NULL;
	unsigned int n;

	if (argc < 1 || argc > 2)
		admin_msg(c, ADMIN_ERR, "Required arguments: <cache> [<url>]");
	else if (!s)
		admin_msg(c, ADMIN_ERR, "No such cache");
	else if (argc == 1)
		sbuf_addf(&c->out, "%u objects removed.\n", cache_clear(s->store, &by));
	else if ((n = cache_remove(s->store, &by, str_of(argv[1]))) > 0)
		sbuf_addf(&c->out, "%u objects removed.\n", n);
	else
		admin_msg(c, ADMIN_ERR, "No such object");
}
