/* Which backend a session goes to: use_backend, then default_backend (manual 4.2). */
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
	int looks;               /* at what clients send, in mode tcp */
	struct rule_fmt *fmt;    /* the name is made for each session; NULL: it is `name` */
	struct proxy *be;        /* resolved; NULL: nobody gets a server from it, or fmt */
	const struct proxies *all; /* where names that are made are looked up */
};

/* Of a name that is made; a longer one is nobody's. */
#define ROUTE_NAME_MAX 255

void use_backend_free(struct use_backend **u);
/* What there is to look at when a session is sent to its backend: SAMPLE_AT_x. */
#define ROUTE_SCOPE (SAMPLE_AT_CONN | SAMPLE_AT_REQ)

/*
 * When all proxies are known: what a line's condition names, and whether it can be asked. root: the
 * configuration. What is wrong goes to d.
 */
void route_check(const struct proxy *fe, struct use_backend *u, struct proxies *root,
	struct cfg_diag *d);
/*
 * NULL: none, or one that is switched off. A frontend without conditions costs nothing. A made name
 * that no backend of this mode has ends the search: default_backend takes it.
 */
struct proxy *route_backend(struct session *s);

/*
 * Where nobody has said it, fullconn is a tenth of the connections that all frontends which name
 * the backend may bring (manual, fullconn), at least 1. maxconn: of a frontend that has none of its
 * own. Once, when all is known.
 */
void proxies_set_fullconn(struct proxies *ps, unsigned int maxconn);

#endif
