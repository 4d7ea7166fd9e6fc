/*
 * Error files: a whole response, head and body, as it is to be sent (manual 4.2, errorfile).
 */
#ifndef TACIT_HTTP_ERRORFILE_H
#define TACIT_HTTP_ERRORFILE_H

#include "base/compiler.h"
#include "http/reply.h"

/*
 * Parsed like any response, but its lines may end in LF. Connection is dropped, Content-Length
 * added, or has to be right; chunks are refused. An empty file makes a reply of status 0. 0,
 * -ERR_NOMEM, or -ERR_SYNTAX with *why (static).
 */
int http_errorfile(struct str text, struct http_reply **out, const char **why) must_check;

#endif
