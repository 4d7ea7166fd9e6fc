/* Shared by the files of the statistics page. */
#ifndef TACIT_APP_STATS_STATS_INT_H
#define TACIT_APP_STATS_STATS_INT_H

#include "app/admin/admin_show_stat.h"
#include "app/stats/stats.h"
#include "base/str.h"
#include "proxy/model/service.h"
#include "proxy/model/stats_conf.h"

enum stats_output { STATS_HTML, STATS_CSV };

/* What the request asks for. Its texts are those of the job. */
struct stats_query {
	enum stats_output output;
	struct str scope;        /* part of the names of proxies; empty: all */
};

/* The rest of the target, behind the prefix of `stats uri`. */
void stats_query_parse(struct str target, struct str prefix, struct stats_query *out);

/* The state of a job, on the first worker. */
struct stats_state {
	const struct proxy *page; /* the section with the page */
	struct stats_query query;
	struct stat_walk walk;
	int has_begun;           /* what comes before the first row is written */
};

#endif
