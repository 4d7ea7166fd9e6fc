/* Rows of the statistics page, and sums over them. */
#ifndef TACIT_APP_STATS_STATS_ROW_H
#define TACIT_APP_STATS_STATS_ROW_H

#include "app/stats/stats_int.h"

/* A row of the table. */
void row_put(struct sbuf *out, const struct stat_item *item, const struct stats_view *view);
/* All that is known about one row, but for numbers that are 0. */
void row_details(struct sbuf *out, const struct stat_item *item, const struct stats_view *view);
/* Adds a row of the first walk. */
void row_sum(struct stats_sums *sums, const struct stat_item *item);
/* Servers by state, each a link to the first of them; the script makes the links filters. */
void row_states(struct sbuf *out, const struct stats_sums *sums);

#endif
