/*
 * Values of `show info` and `show stat` with what is known of them (management manual 9.2), and the
 * typed and JSON forms. All fields belong to process 1.
 */
#ifndef TACIT_APP_ADMIN_FIELD_H
#define TACIT_APP_ADMIN_FIELD_H

#include <stdint.h>

#include "base/sbuf.h"

enum field_type { FIELD_S32, FIELD_U32, FIELD_U64, FIELD_FLT, FIELD_STR };

struct field {
	const char *name;
	unsigned int pos;      /* number in the typed and JSON forms */
	const char *tags;      /* three letters: origin, nature, scope */
	enum field_type type;
	const char *desc;
};

struct field_value {
	enum field_kind { VAL_NONE, VAL_INT, VAL_FLOAT, VAL_TEXT } kind;
	union {
		int64_t n;
		double d;
		const char *s;
	} u;
};

enum field_form { FORM_PLAIN, FORM_TYPED, FORM_JSON };

/* Without VAL_NONE. A VAL_FLOAT has at most six decimals. */
void field_put_value(struct sbuf *out, const struct field_value *v);
/* ":tags:type:value", and with has_desc :"description", then a newline. */
void field_put_typed(struct sbuf *out, const struct field *f, const struct field_value *v,
	int has_desc);
/* The members "field", "processNum", "tags" and "value" of an object. */
void field_put_json(struct sbuf *out, const struct field *f, const struct field_value *v);
/* The JSON schema of both commands (json-schema.org, draft 4). */
void field_put_schema(struct sbuf *out);

#endif
