/*
 * A pool of objects of one size, kept for reuse. Single-threaded: each worker has its own. Debug
 * builds (TACIT_MAGIC) keep no freed objects, so that ASan reports a use after free.
 */
#ifndef TACIT_BASE_POOL_H
#define TACIT_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct pool {
	const char *name;
	size_t size;
	size_t align; /* 0: malloc()'s alignment */
	void *free; /* first kept object; its first word links the next */
	_Atomic unsigned int live;   /* objects in use */
	_Atomic unsigned int peak;
	_Atomic unsigned int kept;   /* on the free list */
	unsigned int keep_max;
	_Atomic uint64_t gets;
	_Atomic uint64_t fails;
};

/* name must outlive the pool; keep_max limits the free list. */
void pool_init(struct pool *p, const char *name, size_t size, unsigned int keep_max);
/* As pool_init(), with objects aligned to align, a power of two, and padded to a multiple of it. */
void pool_init_aligned(struct pool *p, const char *name, size_t size, size_t align,
	unsigned int keep_max);
/* Frees the kept objects. No object may be in use (asserted). */
void pool_fini(struct pool *p);
/* Contents are undefined. */
void *pool_get(struct pool *p) must_check;
/* Ensures that the next pool_get() succeeds: 0, or -1 without memory. */
int pool_reserve(struct pool *p) must_check;
void pool_put(struct pool *p, void *obj);

#endif
