/* A row of `show stat`: an optional value for each of HAProxy's columns, and its forms as text. */
#ifndef TACIT_APP_ADMIN_STAT_ROW_H
#define TACIT_APP_ADMIN_STAT_ROW_H

#include <stdint.h>

#include "app/admin/field.h"
#include "base/sbuf.h"

enum stat_col {
#define STAT_NAMED(id, text, tags, type, desc) STAT_##id,
#define STAT_COL(name, tags, type, desc) STAT_NAMED(name, #name, tags, type, desc)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	STAT_COLS
};

/* Numbers of 9.1. */
enum stat_type { TYPE_FRONTEND, TYPE_BACKEND, TYPE_SERVER, TYPE_LISTENER };

struct stat_row {
	struct field_value v[STAT_COLS]; /* texts are owned by the caller */
};

/* The kind of object that a row is of, as the JSON form names it. */
const char *stat_type_name(enum stat_type type);

static inline void
stat_row_int(struct stat_row *r, enum stat_col c, int64_t n)
{
	r->v[c].kind = VAL_INT;
	r->v[c].u.n = n;
}

static inline void
stat_row_text(struct stat_row *r, enum stat_col c, const char *s)
{
	r->v[c].kind = VAL_TEXT;
	r->v[c].u.s = s;
}

/* "# " and the names of the columns. */
void stat_row_header(struct sbuf *out);
void stat_row_print(struct sbuf *out, const struct stat_row *r);

/* The name, type and description of a column. */
const struct field *stat_field(enum stat_col c);
/* A line for each value of a row, with its description if has_desc. */
void stat_row_print_typed(struct sbuf *out, const struct stat_row *r, int has_desc);
/* The row as an array of its values, without the bracket that ends it. */
void stat_row_print_json(struct sbuf *out, const struct stat_row *r);

#endif
