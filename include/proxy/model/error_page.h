/*
 * Answers to errors that are made when they are sent: `http-error` with formats (manual 4.2). They
 * can look at the request until a server is looked for, at variables always.
 */
#ifndef TACIT_PROXY_MODEL_ERROR_PAGE_H
#define TACIT_PROXY_MODEL_ERROR_PAGE_H

#include "http/reply.h"
#include "rule/sample/fmt.h"

/* SAMPLE_AT_x that their formats may look at. */
#define ERROR_PAGE_SCOPE                                                              \
	(SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_TXN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER)

struct error_page_hdr {
	char *name;
	struct rule_fmt *value;
};

struct error_page {
	unsigned int refs;
	unsigned int status;
	char *type;              /* Content-Type; NULL: there is no body */
	struct rule_fmt *fmt;    /* of the body; NULL: it is text */
	char *text;
	size_t len;
	struct error_page_hdr hdr[HTTP_REPLY_FIELDS - 2];
	unsigned int n;
};

/* With one reference; NULL when memory is out. */
struct error_page *error_page_new(unsigned int status) must_check;
struct error_page *error_page_get(struct error_page *p);
/* Clears the pointer; NULL is allowed. */
void error_page_put(struct error_page **p);
/* A copy of the name; takes over the format. 0 or -ERR_NOMEM. There is room: n says so. */
int error_page_add_hdr(struct error_page *p, const char *name, struct rule_fmt *value) must_check;
/* The configuration is complete. 0, or -1 with *why. */
int error_page_check(struct error_page *p, void *root, struct rule_err *why) must_check;
/*
 * Fills in the head of the answer, which has places, and its body; the texts are the page's or lie
 * in the arena. 0, or -1: it does not fit, or could not be sent.
 */
int error_page_make(const struct error_page *p, struct sample_ctx *cx, struct http_head *head,
	struct str *body) must_check;

#endif
