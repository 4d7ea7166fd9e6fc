/*
 * Names and ids of proxies, servers and listeners: both must be unique. An object without an id
 * gets the next free one in file order, as in HAProxy (manual, `id`), so that statistics have the
 * same numbers.
 */
#ifndef TACIT_PROXY_CONFIG_PROXY_IDS_H
#define TACIT_PROXY_CONFIG_PROXY_IDS_H

#include "base/compiler.h"

struct cfg_diag;
struct proxies;
struct proxy;

/* Reports duplicate names and ids and assigns ids, when all proxies are known. 0 or -ERR_NOMEM. */
int proxies_check_distinct(struct proxies *ps, struct cfg_diag *d) must_check;
/* The same for p's servers and bind lines. 0 or -ERR_NOMEM. */
int proxy_assign_ids(struct proxy *p, struct cfg_diag *d) must_check;

#endif
