/*
 * Caches of responses (HAProxy 2.6, section 6): the actions cache-use and cache-store, and the
 * filter that stores a body while it passes. http1/cache_reply.h serves.
 */
#ifndef TACIT_PROXY_FILTER_CACHE_FILTER_H
#define TACIT_PROXY_FILTER_CACHE_FILTER_H

#include "cfg/registry.h"
#include "proxy/model/caching.h"
#include "proxy/model/filter.h"
#include "rule/action/action.h"
#include "rule/sample/expr.h"

struct cfg_diag;
struct proxies;
struct proxy;

extern const struct cfg_module cache_cfg_module;
extern const struct rule_action cache_actions[];
extern const struct rule_fetch cache_fetches[];

/* Finds the caches of the filters of p. 0, or -1 after errors. */
int cache_filters_finish(struct proxy *p, struct proxies *ps, struct cfg_diag *d) must_check;

#endif
