/* The only file that allocates. Any thread, as the allocator below it: libc's or jemalloc. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#ifdef TACIT_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

void *
mem_alloc(size_t size)
{
	return malloc(size);
}

void *
mem_zalloc(size_t size)
{
	return calloc(1, size);
}

void *
mem_alloc_aligned(size_t align, size_t size)
{
	size_t whole = (size + align - 1) & ~(align - 1);

	return whole >= size ? aligned_alloc(align, whole) : NULL;
}

void *
mem_zalloc_aligned(size_t align, size_t size)
{
	void *p = mem_alloc_aligned(align, size);

	return p ? memset(p, 0, size) : NULL;
}

void *
mem_resize(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes == 0)
		return NULL;
	return realloc(p, bytes);
}

char *
mem_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = malloc(len + 1);

	if (!p)
		return NULL;
	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

void
mem_free(void *p)
{
	free(p);
}

const char *
mem_allocator(void)
{
#ifdef TACIT_JEMALLOC
	return "jemalloc " JEMALLOC_VERSION;
#else
	return "libc";
#endif
}
