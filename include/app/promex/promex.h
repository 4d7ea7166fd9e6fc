/* The Prometheus exporter (manual 4.2, http-request use-service): a local service. */
#ifndef TACIT_APP_PROMEX_PROMEX_H
#define TACIT_APP_PROMEX_PROMEX_H

#include "cfg/entry.h"

struct local_service;

/* The owner is the struct process. */
extern const struct local_service promex_service;

/* Calls fn for each metric: tacit(8). */
void promex_entries(cfg_entry_fn *fn, void *arg);

#endif
