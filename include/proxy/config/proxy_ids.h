/*
 * What proxies, servers and listeners are called: names and ids must be distinct, and who has no
 * id gets the next free one in the order of the file, as HAProxy counts (manual, `id`), so that
 * statistics of the same file have the same numbers.
 */
#ifndef TACIT_PROXY_CONFIG_PROXY_IDS_H
#define TACIT_PROXY_CONFIG_PROXY_IDS_H

#include "base/compiler.h"

struct cfg_diag;
struct proxies;
struct proxy;

/* All proxies are known: reports names and ids that are there twice, and gives out ids.
 * 0 or -ERR_NOMEM. */
int proxies_check_distinct(struct proxies *ps, struct cfg_diag *d) must_check;
/* The same for p's servers and bind lines. 0 or -ERR_NOMEM. */
int proxy_assign_ids(struct proxy *p, struct cfg_diag *d) must_check;

#endif
