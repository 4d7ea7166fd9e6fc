/*
 * Error files: a whole response, head and body, sent unchanged (manual 4.2, errorfile).
 */
#ifndef TACIT_HTTP_ERRORFILE_H
#define TACIT_HTTP_ERRORFILE_H

#include "base/compiler.h"
#include "http/reply.h"

/*
 * Parsed as a response, but lines may end in LF. Connection is dropped; Content-Length is added, or
 * must be correct; chunked bodies are rejected. An empty file yields a reply of status 0. 0,
 * -ERR_NOMEM, or -ERR_SYNTAX with *why (static).
 */
int http_errorfile(struct str text, struct http_reply **out, const char **why) must_check;

#endif
