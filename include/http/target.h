/*
 * The four forms of a request target (RFC 9112, 3.2), the authority that one of them names, and
 * what may stand in Host.
 */
#ifndef TACIT_HTTP_TARGET_H
#define TACIT_HTTP_TARGET_H

#include "base/str.h"
#include "http/head.h"

enum http_form {
	HTTP_FORM_NONE,     /* no form that goes with the method */
	HTTP_FORM_ORIGIN,   /* "/path?query" */
	HTTP_FORM_ABSOLUTE, /* "http://authority/path?query", https too */
	HTTP_FORM_AUTHORITY, /* "host:port": CONNECT, and nothing else there */
	HTTP_FORM_ASTERISK  /* "*": OPTIONS */
};

/* Of a target of the bytes that may stand in one; *authority is empty where the form has none. */
enum http_form http_target_form(enum http_method method, struct str target,
	struct str *authority);
/*
 * host[:port], split: a registered name, an IPv4 address, or an IPv6 address in brackets, which
 * belong to it; the port of up to five digits, without the colon. 0, or -ERR_SYNTAX. Userinfo,
 * commas and blanks have no place. Both may be empty.
 */
int http_authority_split(struct str authority, struct str *host, struct str *port) must_check;
/*
 * Does Host name the authority of a target (RFC 9112, 3.2)? The case of letters does not matter,
 * nor whether the port is written where it is the scheme's own (http 80, https 443; CONNECT: the
 * target's port).
 */
int http_host_fits(struct str host, enum http_form form, struct str target, struct str authority);

#endif
