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
mem_zalloc_aligned(size_t align, size_t size)
{
	size_t whole = (size + align - 1) & ~(align - 1);
	void *p = whole >= size ? aligned_alloc(align, whole) : NULL;

	if (p)
		memset(p, 0, whole);
	return p;
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

void
pool_init(struct pool *p, const char *name, size_t size, unsigned int keep_max)
{
	memset(p, 0, sizeof(*p));
	p->name = name;
	p->size = MAX(size, sizeof(void *));
#ifdef TACIT_MAGIC
	(void)keep_max;
#else
	p->keep_max = keep_max;
#endif
}

void
pool_init_aligned(struct pool *p, const char *name, size_t size, size_t align,
	unsigned int keep_max)
{
	pool_init(p, name, (size + align - 1) & ~(align - 1), keep_max);
	p->align = align;
}

void
pool_fini(struct pool *p)
{
	assert(p->live == 0);
	while (p->free) {
		void *next = *(void **)p->free;

		free(p->free);
		p->free = next;
	}
	p->kept = 0;
}

static void *
new_object(const struct pool *p)
{
	return p->align ? aligned_alloc(p->align, p->size) : malloc(p->size);
}

static void
keep(struct pool *p, void *obj)
{
	*(void **)obj = p->free;
	p->free = obj;
	p->kept++;
}

int
pool_reserve(struct pool *p)
{
	void *obj;

	if (likely(p->free != NULL))
		return 0;
	obj = new_object(p);
	if (unlikely(!obj)) {
		p->fails++;
		return -1;
	}
	keep(p, obj);
	return 0;
}

void *
pool_get(struct pool *p)
{
	void *obj = p->free;

	if (obj) {
		p->free = *(void **)obj;
		p->kept--;
	} else {
		obj = new_object(p);
		if (unlikely(!obj)) {
			p->fails++;
			return NULL;
		}
	}
	p->gets++;
	p->live++;
	if (p->live > p->peak)
		p->peak = p->live;
	return obj;
}

void
pool_put(struct pool *p, void *obj)
{
	assert(p->live > 0);
	p->live--;
	if (p->kept >= p->keep_max) {
		free(obj);
		return;
	}
	keep(p, obj);
}
