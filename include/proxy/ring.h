/*
 * A ring of hash values for consistent hashing (manual, `hash-type consistent`): every member
 * stands at many points, a hash belongs to the one that is nearest to it, before or behind. Who
 * joins or leaves takes or gives only its own. All is where HAProxy has it (observed), so that who
 * changes from one to the other finds the clients where they were.
 */
#ifndef TACIT_PROXY_RING_H
#define TACIT_PROXY_RING_H

#include <stdint.h>

#include "base/compiler.h"

/* Points of a member for each unit of its weight. */
#define RING_POINTS_PER_WEIGHT 16u
/* Points of a member whose weight is the highest. */
#define RING_ROW (256u * RING_POINTS_PER_WEIGHT)

struct ring_point {
	uint32_t at;
	uint16_t who;
};

struct ring {
	struct ring_point *point; /* ascending */
	unsigned int n, cap;
};

/* With room for cap points: pages that no point ever uses cost nothing. 0 or -ERR_NOMEM. */
int ring_init(struct ring *r, unsigned int cap) must_check;
void ring_fini(struct ring *r);
void ring_clear(struct ring *r);
/* Points that depend on id alone, the first n of its row of RING_ROW; ring_sort() when all are
 * in. */
void ring_add(struct ring *r, uint16_t who, uint32_t id, unsigned int n);
void ring_sort(struct ring *r);
/*
 * The place of the point a hash belongs to; what follows it is (place + 1) % r->n. Not of an
 * empty ring.
 */
unsigned int ring_find(const struct ring *r, uint32_t hash);

#endif
