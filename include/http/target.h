/*
 * The four forms of a request target (RFC 9112, 3.2), its authority, and the valid values of Host.
 */
#ifndef TACIT_HTTP_TARGET_H
#define TACIT_HTTP_TARGET_H

#include "base/str.h"
#include "http/head.h"

enum http_form {
	HTTP_FORM_NONE,     /* no form that is valid for the method */
	HTTP_FORM_ORIGIN,   /* "/path?query" */
	HTTP_FORM_ABSOLUTE, /* "http://authority/path?query", https too */
	HTTP_FORM_AUTHORITY, /* "host:port": CONNECT only */
	HTTP_FORM_ASTERISK  /* "*": OPTIONS */
};

/* For a target of valid bytes; *authority is empty if the form has none. */
enum http_form http_target_form(enum http_method method, struct str target,
	struct str *authority);
/*
 * Splits host[:port]: a registered name, an IPv4 address, or an IPv6 address including its
 * brackets; the port of up to five digits, without the colon. 0, or -ERR_SYNTAX. Userinfo, commas
 * and blanks are errors. Both parts may be empty.
 */
int http_authority_split(struct str authority, struct str *host, struct str *port) must_check;
/*
 * True if Host names the authority of a target (RFC 9112, 3.2). Case-insensitive; the scheme's
 * default port may be omitted (http 80, https 443; CONNECT: the target's port).
 */
int http_host_fits(struct str host, enum http_form form, struct str target, struct str authority);

#endif
