/*
 * Request targets (RFC 9112, 3.2; RFC 3986): their parts as slices, their parameters, and changing
 * them. The parser validates received targets; this unit splits them without checks, and validates
 * changed targets. Pure: no memory of its own.
 */
#ifndef TACIT_HTTP_URI_H
#define TACIT_HTTP_URI_H

#include "base/compiler.h"
#include "http/head.h"
#include "http/target.h"

/* Missing parts have p == NULL; present parts may be empty. */
struct http_uri {
	enum http_form form;  /* by syntax only, without regard to the method */
	struct str scheme;    /* without "://" */
	struct str authority;
	struct str path;      /* from the first slash to the question mark */
	struct str pathq;     /* both, with the question mark between them */
	struct str query;     /* after the first question mark */
};

/* Splits a target of any form; the parts point into it. */
void http_uri_split(struct str target, struct http_uri *out);

/* An authority: the host without brackets, the port as a number. */
struct http_authority {
	struct str host;
	int bracketed;        /* the host is an address of IPv6 */
	int port;             /* -1: none is given */
};

/* 0 or -ERR_SYNTAX, as http_authority_split(). */
int http_authority_parse(struct str text, struct http_authority *out) must_check;

/*
 * Manual 7.3.6, "base" and "baseq": the first Host field and the path (and query). Returns the
 * length written to out, 0 when there is neither, or -ERR_RANGE when out is too small.
 */
long http_base(const struct http_head *req, int with_query, char *out, size_t cap);

/* --- parameters: manual 7.3.6, "url_param" --- */

/*
 * The start of the parameters: after the first delim, by default '?'. p == NULL: none. (With ';'
 * the query is searched only if a parameter precedes it, as in HAProxy.)
 */
struct str http_params(struct str target, char delim);
/*
 * Iterates over the parameters: the next name=value, which ends before '&', ';' or delim. 0 when
 * there are no more. A word without "=" is skipped.
 */
int http_param_next(struct str *rest, char delim, struct str *name, struct str *value);

/* --- new targets: manual 4.2, http-request set-path and the like --- */

enum http_part {
	HTTP_PART_PATH,  /* the query is kept */
	HTTP_PART_PATHQ,
	HTTP_PART_QUERY, /* the question mark is added and never removed */
	HTTP_PART_URI    /* the whole target */
};

/*
 * Replaces this part of req->target. The new text is written to out, which must outlive the head
 * and must not contain the old texts; it needs the length of both plus one. 0, -ERR_RANGE when out
 * is too small, -ERR_INVAL when the result is invalid or the target has no such part (CONNECT); the
 * head is unchanged after an error. A new authority is also set in Host.
 */
int http_set_part(struct http_head *req, enum http_part part, struct str value, char *out,
	size_t cap) must_check;
/*
 * Sets the authority in the target to that of Host, if it has one, after Host was changed. Results
 * as above; out needs the length of both.
 */
int http_follow_host(struct http_head *req, char *out, size_t cap) must_check;

#endif
