/* Histograms of times as JSON: for show latency, and their sums for show stat. Pure, but for
 * reading counters. */
#ifndef TACIT_APP_ADMIN_ADMIN_LATENCY_H
#define TACIT_APP_ADMIN_ADMIN_LATENCY_H

#include "app/admin/admin_stat.h"

struct sbuf;

/* Fields of the item's row of show stat, behind those of HAProxy: those of times without a session
 * are left out. */
void latency_json_put_fields(struct sbuf *out, const struct stat_item *item);

#endif
