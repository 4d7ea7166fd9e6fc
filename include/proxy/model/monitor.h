/*
 * Monitoring probes (manual 4.2, `monitor-uri`, `monitor fail`): they are answered at once, and not
 * logged.
 */
#ifndef TACIT_PROXY_MODEL_MONITOR_H
#define TACIT_PROXY_MODEL_MONITOR_H

#include "cfg/diag.h"
#include "rule/match/cond.h"

struct proxies;
struct proxy;
struct session;

/* A line `monitor fail`. */
struct monitor_rule {
	struct list link;        /* http_conf.monitor_fails */
	struct rule_cond *cond;
	struct cfg_where where;
};

void monitor_rule_free(struct monitor_rule **r);
#endif
