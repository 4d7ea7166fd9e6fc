/* The typed and JSON forms of a row of `show stat`. */
#ifndef TACIT_APP_ADMIN_STAT_FORMS_H
#define TACIT_APP_ADMIN_STAT_FORMS_H

#include "app/admin/stat_row.h"

/* The name, type and description of a column. */
const struct field *stat_field(enum stat_col c);
/* A line for each value of a row, with its description if has_desc. */
void stat_row_print_typed(struct sbuf *out, const struct stat_row *r, int has_desc);
/* The row as an array of its values, without the bracket that ends it. */
void stat_row_print_json(struct sbuf *out, const struct stat_row *r);

#endif
