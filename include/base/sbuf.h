/*
 * A string that grows, for answers and log lines. An allocation that fails or a bound that is hit
 * sets a sticky flag; appends after that do nothing, so callers check once at the end.
 */
#ifndef TACIT_BASE_SBUF_H
#define TACIT_BASE_SBUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"

struct sbuf {
	char *p;     /* always NUL-terminated once non-NULL */
	size_t len;  /* without the NUL */
	size_t cap;
	size_t max;  /* bound on len; 0: none */
	int owned;   /* p came from mem_alloc */
	int failed;  /* something did not fit */
};

/* Grows by allocation up to max bytes (0: unbounded). */
void sbuf_init(struct sbuf *b, size_t max);
/* Uses caller's storage, never allocates; cap counts the NUL. */
void sbuf_init_fixed(struct sbuf *b, char *storage, size_t cap);
void sbuf_fini(struct sbuf *b);
void sbuf_reset(struct sbuf *b);
void sbuf_add(struct sbuf *b, const char *p, size_t n);
void sbuf_adds(struct sbuf *b, const char *s);
void sbuf_addc(struct sbuf *b, char c);
void sbuf_addu(struct sbuf *b, unsigned long long v);
void sbuf_addf(struct sbuf *b, const char *fmt, ...) fmt_printf(2, 3);
void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap) fmt_printf(2, 0);

#endif
