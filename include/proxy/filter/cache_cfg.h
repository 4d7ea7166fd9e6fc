/* Sections `cache` of a configuration. Their use is proxy/filter/cache_filter.h. */
#ifndef TACIT_PROXY_FILTER_CACHE_CFG_H
#define TACIT_PROXY_FILTER_CACHE_CFG_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/registry.h"

struct cfg_diag;
struct proxies;

extern const struct cfg_module cache_section_module;

/* Makes the stores of all caches, when the configuration is complete. 0, or -1 after errors. */
int cache_sections_finish(struct proxies *ps, struct cfg_diag *d) must_check;
/* Frees the sections of a configuration and their stores, which no worker uses any more. */
void cache_sections_free(struct list *caches);

#endif
