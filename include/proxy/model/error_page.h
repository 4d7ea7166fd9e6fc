/*
 * Error responses that are formatted when they are sent: `http-error` with formats (manual 4.2).
 * Formats can use the request until a server is looked for, and variables at any time.
 */
#ifndef TACIT_PROXY_MODEL_ERROR_PAGE_H
#define TACIT_PROXY_MODEL_ERROR_PAGE_H

#include "http/reply.h"
#include "rule/sample/fmt.h"

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
struct error_page *error_page_get(struct error_page *p);
/* Drops a reference and clears the pointer; NULL is allowed. */
void error_page_put(struct error_page **p);
/* Adds a field: copies the name and takes ownership of the format. 0 or -ERR_NOMEM. n must leave
 * room for it. */
int error_page_add_hdr(struct error_page *p, const char *name, struct rule_fmt *value) must_check;
/* Checks the page when the configuration is complete. 0, or -1 with *why. */
int error_page_check(struct error_page *p, void *root, struct rule_err *why) must_check;
/*
 * Fills in the head of the reply, whose field array is set, and its body; the texts belong to the
 * page or to the arena. 0, or -1 when the result is too long or invalid.
 */
int error_page_make(const struct error_page *p, struct sample_ctx *cx, struct http_head *head,
	struct str *body) must_check;

#endif
