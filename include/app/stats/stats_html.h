/* Texts and numbers in HTML, and what a row of the page is made of. */
#ifndef TACIT_APP_STATS_STATS_HTML_H
#define TACIT_APP_STATS_STATS_HTML_H

#include "app/stats/stats_int.h"

/* Escaped for text and for attributes in quotes; bytes that are no printable ASCII or UTF-8 stay as
 * they are, but for control characters. */
void html_text(struct sbuf *out, struct str text);
/* A row of the table; with a box to select it if boxes. */
void html_row(struct sbuf *out, const struct stat_item *item, unsigned int flags, int boxes);
/* The table's head: the names of the columns. */
void html_row_names(struct sbuf *out);

#endif
