/* Encodes arbitrary bytes as JSON strings (RFC 8259, 7). */
#ifndef TACIT_BASE_JSON_H
#define TACIT_BASE_JSON_H

#include "base/sbuf.h"
#include "base/str.h"

/*
 * Appends the string in quotes, or null if p is NULL. At most max bytes of the text are used,
 * without splitting a UTF-8 character. Control bytes are written as \u00XX and bytes that are not
 * valid UTF-8 (RFC 3629) as \ufffd, so that the output is always valid and on one line.
 */
void json_put(struct sbuf *out, struct str text, size_t max);

#endif
