/* Texts and numbers in HTML. */
#ifndef TACIT_APP_STATS_STATS_HTML_H
#define TACIT_APP_STATS_STATS_HTML_H

#include <stdint.h>

#include "base/sbuf.h"
#include "base/str.h"

/* Escaped for text and for attributes in quotes; bytes that are no printable ASCII or UTF-8 stay as
 * they are, but for control characters. */
void html_text(struct sbuf *out, struct str text);
/* "1,234", "1.23 M" */
void html_count(struct sbuf *out, uint64_t n);
/* "15.9 MB" */
void html_bytes(struct sbuf *out, uint64_t n);
/* Seconds as "59s", "3m", "26h", "4d". */
void html_age(struct sbuf *out, int64_t s);

#endif
