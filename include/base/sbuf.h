/*
 * A growing string, for responses and log lines. A failed allocation or an exceeded limit sets a
 * sticky flag, after which appends do nothing, so callers check once at the end.
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
	size_t max;  /* maximum of len; 0: none */
	int owned;   /* p came from mem_alloc */
	int is_secret; /* bytes that are no longer in use are erased */
	int failed;  /* an append failed */
};

/* Allocates as it grows, up to max bytes (0: no limit). */
void sbuf_init(struct sbuf *b, size_t max);
/* The same, for keys and passwords: it leaves no copy in memory that it frees. */
void sbuf_init_secret(struct sbuf *b, size_t max);
/* Uses the caller's storage and never allocates; cap includes the NUL. What does not fit is cut,
 * and then `failed` is set. */
void sbuf_init_fixed(struct sbuf *b, char *storage, size_t cap);
void sbuf_fini(struct sbuf *b);
void sbuf_reset(struct sbuf *b);
/* Removes the first n bytes; the others move to the front. */
void sbuf_cut_front(struct sbuf *b, size_t n);
void sbuf_add(struct sbuf *b, const char *p, size_t n);
/* Appends a copy of the n bytes at this place of it. */
void sbuf_add_again(struct sbuf *b, size_t at, size_t n);
void sbuf_adds(struct sbuf *b, const char *s);
void sbuf_addc(struct sbuf *b, char c);
void sbuf_addu(struct sbuf *b, unsigned long long v);
void sbuf_addi(struct sbuf *b, long long v);
void sbuf_addf(struct sbuf *b, const char *fmt, ...) fmt_printf(2, 3);
void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap) fmt_printf(2, 0);

#endif
