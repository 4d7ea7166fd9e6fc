/*
 * A typed pool: objects of one size, kept for reuse after they are put back. Single-threaded: one
 * set per worker. In debug builds (TACIT_MAGIC) nothing that was put is kept, so that ASan sees
 * every use of it.
 */
#ifndef TACIT_BASE_POOL_H
#define TACIT_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct pool {
	const char *name;
	size_t size;
	size_t align; /* 0: as malloc() has it */
	void *free; /* first kept object; its first word links the next */
	_Atomic unsigned int live;   /* handed out now */
	_Atomic unsigned int peak;
	_Atomic unsigned int kept;   /* on the free list */
	unsigned int keep_max;
	_Atomic uint64_t gets;
	_Atomic uint64_t fails;
};

/* name must outlive the pool; keep_max bounds the free list. */
void pool_init(struct pool *p, const char *name, size_t size, unsigned int keep_max);
/* The same with objects that begin at multiples of align, a power of two, and fill it up. */
void pool_init_aligned(struct pool *p, const char *name, size_t size, size_t align,
	unsigned int keep_max);
/* Releases the kept objects; live ones must all have been put (asserted). */
void pool_fini(struct pool *p);
/* Contents are undefined. */
void *pool_get(struct pool *p) must_check;
/* Sees to it that the next pool_get() cannot fail: 0, or -1 without memory. */
int pool_reserve(struct pool *p) must_check;
void pool_put(struct pool *p, void *obj);

#endif
