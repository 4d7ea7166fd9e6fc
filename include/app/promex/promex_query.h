/* The parameters of a request for metrics:
 * "?scope=server&metrics=haproxy_server_status&no-maint". */
#ifndef TACIT_APP_PROMEX_PROMEX_QUERY_H
#define TACIT_APP_PROMEX_PROMEX_QUERY_H

#include "app/promex/metric.h"
#include "base/compiler.h"

enum { PROMEX_METRICS_MAX = 192 };

struct promex_query {
	unsigned int scopes;     /* bits */
	int no_maint;            /* without servers in maintenance */
	int server_histograms;   /* with those that are not named, too */
	int has_names;           /* only those with a bit in named */
	/* Bits of scopes for each metric. */
	uint8_t named[PROMEX_METRICS_MAX], left_out[PROMEX_METRICS_MAX];
};

/* target is changed. 0, or -1: there is no such scope. */
int promex_query_parse(char *target, struct promex_query *out) must_check;
/* True if metric number i is to be written in this scope. Histograms of servers, which are many
 * samples, have to be asked for. */
int promex_wants(const struct promex_query *q, enum metric_scope scope, unsigned int i);

#endif
