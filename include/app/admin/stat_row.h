/* A row of `show stat`: an optional value for each of HAProxy's columns, and its CSV text. */
#ifndef TACIT_APP_ADMIN_STAT_ROW_H
#define TACIT_APP_ADMIN_STAT_ROW_H

#include <stdint.h>

#include "base/sbuf.h"

enum stat_col {
#define STAT_NAMED(id, text) STAT_##id,
#define STAT_COL(name) STAT_NAMED(name, #name)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	STAT_COLS
};

struct stat_row {
	struct {
		enum { VAL_NONE, VAL_INT, VAL_TEXT } kind;
		union {
			int64_t n;
			const char *s; /* owned by the caller */
		} u;
	} v[STAT_COLS];
};

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

#endif
