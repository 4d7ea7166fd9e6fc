/* The statistics page: one file of HTML, with its style and script, and nothing from outside. */
#ifndef TACIT_APP_STATS_STATS_PAGE_H
#define TACIT_APP_STATS_STATS_PAGE_H

#include "app/stats/stats_int.h"

/* Adds the page's fields to the response's head. 0, or -1: there are no random bytes. */
int stats_page_begin(struct service_job *j, const struct process *p) must_check;
/* The next part of the page: 1. 0: that was the end. */
int stats_page_next(struct service_job *j, const struct process *p) must_check;

#endif
