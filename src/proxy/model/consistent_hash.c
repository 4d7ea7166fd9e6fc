/* The ring of consistent hashing. Built by the main thread or under the backend's lock; its
 * points are sorted. */
#include "proxy/model/consistent_hash.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

int
consistent_hash_init(struct consistent_hash *r, unsigned int cap)
{
	*r = (struct consistent_hash){ .cap = cap };
	r->point = mem_resize(NULL, cap, sizeof(*r->point));
	return r->point ? 0 : -ERR_NOMEM;
}

void
consistent_hash_fini(struct consistent_hash *r)
{
	mem_free(r->point);
	*r = (struct consistent_hash){ 0 };
}

void
consistent_hash_clear(struct consistent_hash *r)
{
	r->n = 0;
}

static void
add_point(struct consistent_hash *r, uint16_t who, uint32_t at)
{
	if (r->n < r->cap)
		r->point[r->n++] = (struct consistent_hash_point){ .at = at, .who = who };
}

void
consistent_hash_add(struct consistent_hash *r, uint16_t who, uint32_t id, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		add_point(r, who, hash_avalanche(id * CONSISTENT_HASH_ROW + i));
}

/* The steps are large: the points of two keys that are close have nothing in common. */
void
consistent_hash_add_key(struct consistent_hash *r, uint16_t who, uint32_t key, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		add_point(r, who, hash_avalanche(key + i * 0x9e3779b9u));
}

static int
compare_points(const void *a, const void *b)
{
	const struct consistent_hash_point *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

void
consistent_hash_sort(struct consistent_hash *r)
{
	qsort(r->point, r->n, sizeof(*r->point), compare_points);
}

/* The first point at or after the hash, in circular order. */
static unsigned int
find_behind(const struct consistent_hash *r, uint32_t hash)
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
consistent_hash_find(const struct consistent_hash *r, uint32_t hash)
{
	unsigned int behind = find_behind(r, hash);
	unsigned int before = (behind ? behind : r->n) - 1;

	return r->point[behind].at - hash < hash - r->point[before].at ? behind : before;
}
