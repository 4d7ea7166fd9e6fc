/* A whole response of HTTP/1 in memory: for requests that tacit makes itself. Pure. */
#ifndef TACIT_HTTP_WHOLE_H
#define TACIT_HTTP_WHOLE_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/str.h"

enum http_whole { HTTP_WHOLE, HTTP_WHOLE_MORE, HTTP_WHOLE_BAD };

/*
 * The final response to a POST, from the first byte on; ended: no more bytes will come. Changes p
 * only with HTTP_WHOLE: *body, without chunks, lies in it. Otherwise it may be called again with
 * more bytes.
 */
enum http_whole http_whole_response(char *p, size_t len, int ended, unsigned int *status,
	struct str *body) must_check;

#endif
