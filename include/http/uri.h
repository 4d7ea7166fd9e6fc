/*
 * Request targets (RFC 9112, 3.2; RFC 3986): their parts as slices, their parameters, and new
 * ones made of old ones. What a target may look like is judged by the parser; here bytes are only
 * taken apart, and what is made anew is judged before it can be sent. Pure: no memory of its own.
 */
#ifndef TACIT_HTTP_URI_H
#define TACIT_HTTP_URI_H

#include "base/compiler.h"
#include "http/head.h"
#include "http/target.h"

/* Parts that are not there have p == NULL; those that are there may be empty. */
struct http_uri {
	enum http_form form;  /* by its looks: the method is not asked */
	struct str scheme;    /* without "://" */
	struct str authority;
	struct str path;      /* from the first slash to the question mark */
	struct str pathq;     /* both, with the question mark between them */
	struct str query;     /* behind the first question mark */
};

void http_uri_split(struct str target, struct http_uri *out);

/* An authority for those who want to use it: the host without brackets, the port as a number. */
struct http_authority {
	struct str host;
	int bracketed;        /* the host is an address of IPv6 */
	int port;             /* -1: none is given */
};

/* 0 or -ERR_SYNTAX, as http_authority_split() has it. */
int http_authority_parse(struct str text, struct http_authority *out) must_check;

/*
 * Manual 7.3.6, "base" and "baseq": the first Host field and the path (and query). What was written
 * to out, 0 when there is neither, or -ERR_RANGE when it has not room.
 */
long http_base(const struct http_head *req, int with_query, char *out, size_t cap);

/* --- parameters: manual 7.3.6, "url_param" --- */

/*
 * Where they begin: behind the first delim, which is '?' if nobody said otherwise. p == NULL:
 * nowhere. (With ';' the query is not looked at unless a parameter stands before it: as HAProxy
 * has it.)
 */
struct str http_params(struct str target, char delim);
/*
 * Steps through them: the next name=value, which ends before '&', ';' or delim. 0 when there is
 * none left. A word without "=" is no parameter.
 */
int http_param_next(struct str *rest, char delim, struct str *name, struct str *value);

/* --- new targets: manual 4.2, http-request set-path and the like --- */

enum http_part {
	HTTP_PART_PATH,  /* the query stays */
	HTTP_PART_PATHQ,
	HTTP_PART_QUERY, /* a question mark comes with it, and never goes */
	HTTP_PART_URI    /* all of it */
};

/* May these bytes be sent as a target with that method? As the parser has it. */
int http_target_is_valid(enum http_method method, struct str target);
/*
 * Replaces that part of req->target. The new text lies in out, which has to outlive the head and
 * holds neither of the old ones; it needs the length of both and one. 0, -ERR_RANGE when out has
 * not room, -ERR_INVAL when what would come out is not valid or there is nothing to put that part
 * to (CONNECT): the head is as it was then. A new authority goes into Host too.
 */
int http_set_part(struct http_head *req, enum http_part part, struct str value, char *out,
	size_t cap) must_check;
/*
 * After Host was changed: a target with an authority gets the same one. Results as above; out
 * needs the length of both.
 */
int http_follow_host(struct http_head *req, char *out, size_t cap) must_check;

#endif
