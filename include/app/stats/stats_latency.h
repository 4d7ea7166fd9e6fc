/* Times of a row of the page. */
#ifndef TACIT_APP_STATS_STATS_LATENCY_H
#define TACIT_APP_STATS_STATS_LATENCY_H

#include "app/stats/stats_int.h"

/* Percentiles in milliseconds: of the response, or of the total time where there is none. */
void html_latency(struct sbuf *out, const struct stat_item *item);

#endif
