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
#define STATS_WORDS_MAX 256 /* with a scope that is encoded */

/* The part of a request that rows depend on. */
struct stats_view {
	struct str uri;          /* of the page */
	const char *words;       /* of the request, behind the URI: ";up;scope=web" */
	unsigned int flags;      /* enum stats_flag */
	int has_form;            /* its servers can be selected */
};

/* Classes of rows on the page, the most urgent first. */
enum stats_class {
	CLASS_DOWN,
	CLASS_FAILING, /* up or not checked, and most of its traffic fails */
	CLASS_GOING,   /* up or down */
	CLASS_MAINT,
	CLASS_DRAIN,
	CLASS_IDLE,    /* not checked */
	CLASS_UP,
	CLASS_OPEN,    /* a frontend or listener */
	STATS_CLASSES
};

/* "3.2.1": proxy, type and server, as the parameter row= of a request. */
#define STATS_ROW_ID_MAX 40

/* Sums over the rows, for the overview. */
struct stats_sums {
	unsigned int servers[STATS_CLASSES];
	char first[STATS_CLASSES][STATS_ROW_ID_MAX]; /* the first row of each */
	uint64_t requests, failed; /* of frontends: requests, responses 5xx */
	unsigned int rate;       /* requests or sessions in the last second */
};

/* The state of a job, on the first worker. */
struct stats_state {
	const struct proxy *page; /* the section with the page */
	struct stats_query query;
	char scope[STATS_SCOPE_MAX]; /* decoded */
	char words[STATS_WORDS_MAX];
	struct stat_walk walk;
	int has_begun;           /* what comes before the first row is written */
	int is_admin;            /* servers may be changed */
	struct stats_form form;  /* POST */
	/* HTML: */
	char nonce[STATS_NONCE_MAX];
	int has_sums;            /* the walk is the one that prints */
	struct stat_walk sum_walk; /* over all rows, before that */
	struct stats_sums sums;
	struct stats_view view;
	const struct proxy *open; /* whose table is open; NULL: none */
};

#endif
