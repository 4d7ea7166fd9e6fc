/* Shared by the files of the statistics page. */
#ifndef TACIT_APP_STATS_STATS_INT_H
#define TACIT_APP_STATS_STATS_INT_H

#include "app/admin/admin_show_stat.h"
#include "app/stats/stats.h"
#include "app/stats/stats_form.h"
#include "app/stats/stats_query.h"
#include "proxy/model/service.h"
#include "proxy/model/stats_conf.h"

#define STATS_NONCE_MAX 33 /* 32 hexadecimal digits */
#define STATS_SCOPE_MAX 64

/* The state of a job, on the first worker. */
struct stats_state {
	const struct proxy *page; /* the section with the page */
	struct stats_query query;
	char scope[STATS_SCOPE_MAX]; /* decoded */
	struct stat_walk walk;
	int has_begun;           /* what comes before the first row is written */
	int is_admin;            /* servers may be changed */
	struct stats_form form;  /* POST */
	/* HTML: */
	char nonce[STATS_NONCE_MAX];
	const struct proxy *open; /* whose table is open; NULL: none */
	int has_form;            /* and it stands in a form */
};

#endif
