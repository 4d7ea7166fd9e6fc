/* Objects of one size, for one worker and without a lock. A free object's first word links it to
 * the next free one, and its other bytes are as they were left. */
#include "base/pool.h"

#include <string.h>

#include "base/counter.h"
#include "base/mem.h"

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

		mem_free(p->free);
		p->free = next;
	}
	counter_set(&p->kept, 0);
}

static void *
new_object(const struct pool *p)
{
	return p->align ? mem_alloc_aligned(p->align, p->size) : mem_alloc(p->size);
}

static void
keep_free(struct pool *p, void *obj)
{
	*(void **)obj = p->free;
	p->free = obj;
	counter_add(&p->kept, 1);
}

int
pool_reserve(struct pool *p)
{
	void *obj;

	if (likely(p->free != NULL))
		return 0;
	obj = new_object(p);
	if (unlikely(!obj)) {
		counter_add(&p->fails, 1);
		return -1;
	}
	keep_free(p, obj);
	return 0;
}

void *
pool_get(struct pool *p)
{
	void *obj = p->free;

	if (obj) {
		p->free = *(void **)obj;
		counter_sub(&p->kept, 1);
	} else {
		obj = new_object(p);
		if (unlikely(!obj)) {
			counter_add(&p->fails, 1);
			return NULL;
		}
	}
	counter_add(&p->gets, 1);
	counter_add(&p->live, 1);
	counter_max(&p->peak, counter_read(&p->live));
	return obj;
}

void
pool_put(struct pool *p, void *obj)
{
	assert(p->live > 0);
	counter_sub(&p->live, 1);
	if (p->kept >= p->keep_max) {
		mem_free(obj);
		return;
	}
	keep_free(p, obj);
}
