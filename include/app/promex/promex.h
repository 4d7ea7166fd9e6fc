/* The Prometheus exporter (manual 4.2, http-request use-service): a local service. */
#ifndef TACIT_APP_PROMEX_PROMEX_H
#define TACIT_APP_PROMEX_PROMEX_H

struct local_service;

/* The owner is the struct process. */
extern const struct local_service promex_service;

#endif
