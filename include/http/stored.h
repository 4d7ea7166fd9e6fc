/* Fields as a cache stores them: for each its lengths, then its name and value. */
#ifndef TACIT_HTTP_STORED_H
#define TACIT_HTTP_STORED_H

#include "http/head.h"

/* Bytes in front of the texts of a field. */
#define HTTP_STORED_FIELD 6

/* Writes the lengths of a field: 0, or -ERR_RANGE when one is too large. */
int http_stored_size(const struct http_field *f, char out[HTTP_STORED_FIELD]) must_check;
/* Adds stored fields to a head; the bytes must outlive it. 0 or a negative reason: they may be of
 * another process. */
int http_stored_read(struct str bytes, struct http_head *h) must_check;

#endif
