/* Finds one value in a text of JSON (RFC 8259), by the names and numbers that lead to it. */
#ifndef TACIT_BASE_JSON_FIND_H
#define TACIT_BASE_JSON_FIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

#define JSON_DEPTH_MAX 64 /* a text in which values are nested deeper is invalid */

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_LIST,
	JSON_OBJECT
};

/* Goes into an object, or into a list. */
struct json_step {
	struct str name;         /* of a member; p NULL: nth counts */
	size_t nth;              /* an element, from 0 */
};

struct json_value {
	enum json_kind kind;
	struct str text;         /* a number as it stands; a string between its quotes */
};

/*
 * The value at the end of n steps from the whole text. The first of several members with one name
 * counts. The text is read and checked up to the value's end only. 1; 0: there is none, or what
 * was read is invalid.
 */
int json_find(struct str text, const struct json_step *step, size_t n, struct json_value *out);
/*
 * The characters of a JSON_STRING in UTF-8, written to out, which has room for raw.len bytes. Their
 * number; -1: a NUL is among them, or half of a surrogate pair.
 */
long json_unescape(struct str raw, char *out) must_check;
/* A JSON_NUMBER without its fraction. 0, or -1: it does not fit. */
int json_to_int(struct str number, int64_t *out) must_check;

#endif
