/*
 * What a proxy answers itself when something is wrong (manual 4.2: errorfile, errorloc, http-error,
 * errorfiles; 3.8: http-errors). Lines are kept in order while the configuration is read, and
 * resolved when it is complete: a group may stand behind the proxy that imports it.
 */
#ifndef TACIT_PROXY_MODEL_ERRORS_H
#define TACIT_PROXY_MODEL_ERRORS_H

#include <stdint.h>

#include "base/list.h"
#include "cfg/diag.h"
#include "http/reply.h"
#include "proxy/model/error_page.h"

struct proxy;
struct proxies;

/* One line. */
struct error_line {
	struct list link;
	uint32_t which;           /* 1 << enum http_error_id: the errors it is about */
	struct http_reply *reply; /* what they get; NULL with no group: the built-in one again */
	struct error_page *page;  /* or this, which is made when it is sent */
	char *group;              /* or all of them that this http-errors section has */
	struct cfg_where where;
	int inherited;            /* it stands in the defaults */
};

struct proxy_errors {
	struct list lines;
	/* Once resolved; both NULL: nothing of its own. */
	struct http_reply *own[HTTP_ERRORS];
	struct error_page *page[HTTP_ERRORS];
};

/* A section http-errors. */
struct error_group {
	struct list link;
	char *name;
	struct proxy_errors errors;
};

void proxy_errors_init(struct proxy_errors *e);
void proxy_errors_fini(struct proxy_errors *e);
/*
 * Appends a line; takes over the reference to reply in any case (NULL: none), copies group. 0 or
 * -ERR_NOMEM.
 */
int proxy_errors_add(struct proxy_errors *e, uint32_t which, struct http_reply *reply,
	const char *group, struct cfg_where where) must_check;
/* The same with a page for one error. */
int proxy_errors_add_page(struct proxy_errors *e, enum http_error_id id, struct error_page *page,
	struct cfg_where where) must_check;
/* Appends the lines of the defaults. 0 or -ERR_NOMEM. */
int proxy_errors_inherit(struct proxy_errors *e, const struct proxy_errors *defaults) must_check;
/* Fills in own[]: later lines go before earlier ones. 0, or -1 when errors were reported. */
int proxy_errors_resolve(struct proxy_errors *e, struct proxies *ps,
	struct cfg_diag *d) must_check;

/*
 * Reports answers that are longer than most bytes, what a buffer holds beside tune.maxrewrite. 0,
 * or -1 when there are.
 */
int proxies_fit_errors(const struct proxies *ps, size_t most, struct cfg_diag *d) must_check;

/* The section of that name, or NULL. */
struct error_group *error_group_find(const struct proxies *ps, const char *name);
void error_group_free(struct error_group **g);
/* What rules answer with that name (rule_vocab.page); root is a struct proxies. */
struct http_reply *error_group_page(const void *root, const char *name, unsigned int status,
	const char **why);

/* As proxy_error(), where that is a page to be made; NULL: it is a reply. */
const struct error_page *proxy_error_page(const struct proxy *fe, const struct proxy *be,
	unsigned int status);
/*
 * What to answer, unless proxy_error_page() says it: the backend's word goes before the frontend's,
 * and that before the built-in one. be: NULL when there is none yet. Of a status without an answer,
 * the one of 500. Never NULL.
 */
const struct http_reply *proxy_error(const struct proxy *fe, const struct proxy *be,
	unsigned int status);

#endif
