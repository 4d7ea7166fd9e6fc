/* Dates of HTTP (RFC 9110, 5.6.7). */
#ifndef TACIT_HTTP_DATE_H
#define TACIT_HTTP_DATE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
#define HTTP_DATE_LEN 29

/*
 * A time in seconds since 1970 as IMF-fixdate. A year without four digits yields 1 January 1970. A
 * caller that needs it often should cache it for a second.
 */
void http_date(int64_t sec, char out[HTTP_DATE_LEN + 1]);
/* Reads one of the three forms that a recipient has to know, to seconds since 1970. 0 or
 * -ERR_SYNTAX. */
int http_date_parse(struct str text, int64_t *sec) must_check;

#endif
