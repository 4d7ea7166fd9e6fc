/* Keywords of proxies that are about HTTP connections: how they persist, are reused and retried. */
#ifndef TACIT_PROXY_CONFIG_HTTP_CFG_H
#define TACIT_PROXY_CONFIG_HTTP_CFG_H

struct cfg_diag;
struct proxies;
struct proxy;

#include "cfg/registry.h"

/* ctx->obj is a struct proxy. */
extern const struct cfg_module http_cfg_module;

/* Its keyword number `which`, a bit of http_conf.given, in words. NULL: there is none. */
const char *http_cfg_name(unsigned int which);

/* Warns of what a proxy that is not in mode http cannot use. */
void http_conf_check(const struct proxy *p, struct cfg_diag *d);
/* All proxies are known: what the lines `monitor fail` of fe name. What is wrong goes to d. */
void monitor_check(const struct proxy *fe, struct proxies *root, struct cfg_diag *d);

#endif
