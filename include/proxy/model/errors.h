/*
 * Error responses of a proxy (manual 4.2: errorfile, errorloc, http-error, errorfiles; 3.8:
 * http-errors). Lines are collected in order while the configuration is read and resolved when it
 * is complete, since a section may follow the proxy that uses it.
 */
#ifndef TACIT_PROXY_MODEL_ERRORS_H
#define TACIT_PROXY_MODEL_ERRORS_H

#include <stdint.h>

#include "base/list.h"
#include "cfg/diag.h"
#include "http/reply.h"
#include "rule/sample/fmt.h"

struct proxies;
struct proxy;

/*
 * Error responses that are formatted when they are sent: `http-error` with formats (manual 4.2).
 * Formats can use the request until a server is looked for, and variables at any time.
 */

/* SAMPLE_AT_x that the formats may use. */
#define ERROR_PAGE_SCOPE                                                              \
	(SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_TXN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER)

struct error_page_hdr {
	char *name;
	struct rule_fmt *value;
};

struct error_page {
	unsigned int refs;
	unsigned int status;
	char *type;              /* Content-Type; NULL: no body */
	struct rule_fmt *fmt;    /* format of the body; NULL: it is text */
	char *text;
	size_t len;
	struct error_page_hdr hdr[HTTP_REPLY_FIELDS - 2];
	unsigned int n;
};

/* Allocates a page with one reference; NULL when memory is out. */
struct error_page *error_page_new(unsigned int status) must_check;
/* Drops a reference and clears the pointer; NULL is allowed. */
void error_page_put(struct error_page **p);
/* Adds a field: copies the name and takes ownership of the format. 0 or -ERR_NOMEM. n must leave
 * room for it. */
int error_page_add_hdr(struct error_page *p, const char *name, struct rule_fmt *value) must_check;
/*
 * Fills in the head of the reply, whose field array is set, and its body; the texts belong to the
 * page or to the arena. 0, or -1 when the result is too long or invalid.
 */
int error_page_make(const struct error_page *p, struct sample_ctx *cx, struct http_head *head,
	struct str *body) must_check;

/* One line. */
struct error_line {
	struct list link;
	uint32_t which;           /* the errors it applies to: bits 1 << enum http_error_id */
	struct http_reply *reply; /* the reply; NULL without a group: the built-in one */
	struct error_page *page;  /* or a page, formatted when it is sent */
	char *group;              /* or all replies of this http-errors section */
	struct cfg_where where;
	int inherited;            /* from a defaults section */
};

struct proxy_errors {
	struct list lines;
	/* The resolved response; both NULL: none of its own. */
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
 * Appends a line. Takes ownership of the reference to reply (NULL: none) also on failure, copies
 * group. 0 or -ERR_NOMEM.
 */
int proxy_errors_add(struct proxy_errors *e, uint32_t which, struct http_reply *reply,
	const char *group, struct cfg_where where) must_check;
/* The same with a page, for one error. */
int proxy_errors_add_page(struct proxy_errors *e, enum http_error_id id, struct error_page *page,
	struct cfg_where where) must_check;
/* Appends the lines of the defaults section. 0 or -ERR_NOMEM. */
int proxy_errors_inherit(struct proxy_errors *e, const struct proxy_errors *defaults) must_check;
/* Fills in own[]: later lines take precedence. 0, or -1 after errors were reported. */
int proxy_errors_resolve(struct proxy_errors *e, struct proxies *ps,
	struct cfg_diag *d) must_check;

/*
 * Reports replies longer than `most` bytes, a buffer without tune.maxrewrite. 0, or -1 if there are
 * any.
 */
int proxies_fit_errors(const struct proxies *ps, size_t most, struct cfg_diag *d) must_check;

/* The section with this name, or NULL. */
struct error_group *error_group_find(const struct proxies *ps, const char *name);
void error_group_free(struct error_group **g);
/* The http-errors section with this name for rules (rule_vocab.page); root is a struct proxies. */
struct http_reply *error_group_page(const void *root, const char *name, unsigned int status,
	const char **why);

/* As proxy_error(), if the response is a page; NULL: it is a reply. */
const struct error_page *proxy_error_page(const struct proxy *fe, const struct proxy *be,
	unsigned int status);
/*
 * The error response, unless proxy_error_page() returns a page. The backend takes precedence over
 * the frontend, and the frontend over the built-in reply. be: NULL when there is none yet. A status
 * without a reply gets the one of 500. Never NULL.
 */
const struct http_reply *proxy_error(const struct proxy *fe, const struct proxy *be,
	unsigned int status);

#endif
