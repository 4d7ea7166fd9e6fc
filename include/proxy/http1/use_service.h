/* Requests for which a rule has chosen a local service (model/service.h). Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_USE_SERVICE_H
#define TACIT_PROXY_HTTP1_USE_SERVICE_H

#include "proxy/model/http_txn.h"

/* The Prometheus exporter takes over, or txn->status is 500. */
void use_service(struct stream *s);

#endif
