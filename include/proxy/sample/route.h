/* Selecting the backend of a session: use_backend, then default_backend (manual 4.2). */
#ifndef TACIT_PROXY_SAMPLE_ROUTE_H
#define TACIT_PROXY_SAMPLE_ROUTE_H

#include "cfg/diag.h"
#include "proxy/model/session.h"
#include "rule/match/cond.h"
#include "rule/sample/fmt.h"

struct proxies;

/* A `use_backend` line. */
struct use_backend {
	struct list link;
	char *name;
	struct cfg_where where;
	struct rule_cond *cond;  /* NULL: always */
	int looks;               /* depends on data from clients, in mode tcp */
	struct rule_fmt *fmt;    /* format of the name; NULL: `name` is used */
	struct proxy *be;        /* resolved; NULL: no backend, or fmt is used */
	const struct proxies *all; /* to look up formatted names */
};

/* A `force-be-switch` line: sessions for which its condition is true may get a backend that is not
 * published. */
struct be_switch {
	struct list link;
	struct rule_cond *cond;
	struct cfg_where where;
};

void be_switch_free(struct be_switch **b);
/* Checks those of fe when all proxies are known; errors are reported to d. */
void be_switches_check(struct proxy *fe, struct proxies *root, struct cfg_diag *d);

/* Maximum length of a formatted name. */
#define ROUTE_NAME_MAX 255

void use_backend_free(struct use_backend **u);
/* SAMPLE_AT_x available when the backend is selected. */
#define ROUTE_SCOPE (SAMPLE_AT_CONN | SAMPLE_AT_REQ)

/*
 * NULL: none, or it is disabled. One that is not published is passed over. A frontend without
 * conditions costs nothing. A formatted name without a backend of this mode ends the search:
 * default_backend is used.
 */
struct proxy *route_backend(struct stream *s);

/*
 * Sets an unconfigured fullconn to a tenth of the connections of all frontends that refer to the
 * backend (manual, fullconn), at least 1. maxconn: the default of frontends. Once, when all proxies
 * are known.
 */
void proxies_set_fullconn(struct proxies *ps, unsigned int maxconn);

#endif
