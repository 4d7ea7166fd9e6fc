/*
 * Memory. This unit is the only one that allocates: all others use these functions or a pool
 * (base/pool.h). All return NULL when memory is out; none aborts.
 */
#ifndef TACIT_BASE_MEM_H
#define TACIT_BASE_MEM_H

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"

void *mem_alloc(size_t size) must_check;
void *mem_zalloc(size_t size) must_check;
/* Aligned to a multiple of align, a power of two. */
void *mem_alloc_aligned(size_t align, size_t size) must_check;
void *mem_zalloc_aligned(size_t align, size_t size) must_check;
/* As reallocarray(3): NULL on overflow, and the old block stays valid. */
void *mem_resize(void *p, size_t n, size_t size) must_check;
char *mem_strdup(const char *s) must_check;
char *mem_strndup(const char *s, size_t n) must_check;
/* NULL is allowed. */
void mem_free(void *p);
/* Name and version of the allocator in use, for -vv. */
const char *mem_allocator(void);

/* Makes n bytes zero: some hundreds, which a compiler that knows their number would store word by
 * word. */
static inline void
mem_clear(void *p, size_t n)
{
	/* Hides it from the compiler. */
	__asm__("" : "+r"(p), "+r"(n));
	memset(p, 0, n);
}

/* Copies a string that may be NULL: 0 or -ERR_NOMEM. */
static inline must_check int
mem_copy_string(char **to, const char *from)
{
	*to = from ? mem_strdup(from) : NULL;
	return from && !*to ? -ERR_NOMEM : 0;
}

#endif
