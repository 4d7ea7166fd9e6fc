/* The rows of show stat as text: CSV, typed or JSON, as the walk's args select. */
#ifndef TACIT_APP_ADMIN_ADMIN_SHOW_STAT_H
#define TACIT_APP_ADMIN_ADMIN_SHOW_STAT_H

#include "app/admin/admin_stat.h"
#include "app/admin/stat_rows.h"
#include "base/compiler.h"

/* Prints the lines before the first row. */
void stat_print_begin(const struct stat_walk *w, struct sbuf *out);
/* The next row, if any: 1. 0: that was the end. */
int stat_print_next(struct stat_walk *w, const struct process *p, struct sbuf *out) must_check;

#endif
