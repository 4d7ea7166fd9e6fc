/* Requests for the statistics (manual 4.2, stats uri). The response is a local service's
 * (model/service.h). Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_STATS_H
#define TACIT_PROXY_HTTP1_STATS_H

#include "proxy/model/http_txn.h"
#include "rule/action/action.h"

/* True if the request is for the statistics of px. */
int stats_are_asked_for(const struct stream *s, const struct proxy *px);
/* True if `stats auth` admits the client; otherwise v is a 401. The texts lie in the worker's
 * arena. */
int stats_admit(struct stream *s, const struct proxy *px, struct rule_outcome *v) must_check;
/* The rules have admitted the client, and its request is there: the service takes over. 0, or
 * -1. */
int stats_serve(struct stream *s, struct proxy *px) must_check;

#endif
