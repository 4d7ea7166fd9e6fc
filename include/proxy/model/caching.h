/*
 * Sections `cache`, and what a stream has to do with them: the response that it is served, and the
 * key under which its own response may be stored. The store is cache/cache.h.
 */
#ifndef TACIT_PROXY_MODEL_CACHING_H
#define TACIT_PROXY_MODEL_CACHING_H

#include "base/list.h"
#include "cache/cache.h"
#include "cfg/ctx.h"

/* The action cache-use has found it. */
struct cache_hit {
	struct cache *cache;      /* NULL: nothing was found; else also behind its end */
	struct cache_entry *entry; /* NULL: all of it is sent */
	struct cache_place at;    /* of what follows */
	uint64_t left;            /* bytes of the body; 0: it is not sent */
};

/* The action cache-use has run: the response may be stored, or makes another one invalid. */
struct cache_use {
	struct cache *cache;
	unsigned int may;         /* bits of enum http_caching */
	int is_filled;            /* an object of the response was begun, and not given up */
	uint32_t mark;            /* of cache_mark(), before a server is asked */
	struct cache_variant asked; /* its texts lie behind the key */
	uint32_t key_len;
	char key[];
};

struct cache_section {
	struct list link;         /* proxies.caches */
	char *name;
	struct cfg_where where;
	struct cache_conf conf;
	int varies;               /* process-vary */
	uint32_t variants_max;    /* max-secondary-entries */
	struct cache *store;      /* when the configuration is complete */
};

#endif
