/* The statistics over HTTP (manual 4.2, stats uri; management manual 9.1): a local service. */
#ifndef TACIT_APP_STATS_STATS_H
#define TACIT_APP_STATS_STATS_H

struct local_service;

/* Its jobs' conf is the struct proxy whose page it is; the owner is the struct process. */
extern const struct local_service stats_service;

#endif
