#include "proxy/ring.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

int
ring_init(struct ring *r, unsigned int cap)
{
	*r = (struct ring){ .cap = cap };
	r->point = mem_resize(NULL, cap, sizeof(*r->point));
	return r->point ? 0 : -ERR_NOMEM;
}

void
ring_fini(struct ring *r)
{
	mem_free(r->point);
	*r = (struct ring){ 0 };
}

void
ring_clear(struct ring *r)
{
	r->n = 0;
}

void
ring_add(struct ring *r, uint16_t who, uint32_t id, unsigned int n)
{
	for (unsigned int i = 0; i < n && r->n < r->cap; i++)
		r->point[r->n++] = (struct ring_point){
			.at = hash_avalanche(id * RING_ROW + i), .who = who
		};
}

static int
compare(const void *a, const void *b)
{
	const struct ring_point *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

void
ring_sort(struct ring *r)
{
	qsort(r->point, r->n, sizeof(*r->point), compare);
}

/* The first point at or behind it, of those of the circle. */
static unsigned int
find_behind(const struct ring *r, uint32_t hash)
{
	unsigned int lo = 0, hi = r->n;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (r->point[mid].at < hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo == r->n ? 0 : lo;
}

unsigned int
ring_find(const struct ring *r, uint32_t hash)
{
	unsigned int behind = find_behind(r, hash);
	unsigned int before = (behind ? behind : r->n) - 1;

	return r->point[behind].at - hash < hash - r->point[before].at ? behind : before;
}
