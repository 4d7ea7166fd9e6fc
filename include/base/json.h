/* Texts as strings of JSON (RFC 8259, 7), whatever bytes they hold. */
#ifndef TACIT_BASE_JSON_H
#define TACIT_BASE_JSON_H

#include "base/sbuf.h"
#include "base/str.h"

/*
 * Appends the string, in quotes; p NULL: null. At most max bytes of the text are taken, and no part
 * of a character of UTF-8. Control bytes are written as \u00XX; a byte that is not UTF-8 (RFC 3629)
 * as \ufffd, so that what comes out is valid always, and on one line.
 */
void json_put(struct sbuf *out, struct str text, size_t max);

#endif
