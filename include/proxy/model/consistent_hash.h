/*
 * A ring of hash values for consistent hashing (manual, `hash-type consistent`): every member
 * stands at many points, a hash belongs to the one that is nearest to it, before or behind. Who
 * joins or leaves takes or gives only its own. All is where HAProxy has it (observed), so that who
 * changes from one to the other finds the clients where they were.
 */
#ifndef TACIT_PROXY_MODEL_CONSISTENT_HASH_H
#define TACIT_PROXY_MODEL_CONSISTENT_HASH_H

#include <stdint.h>

#include "base/compiler.h"

/* Points of a member for each unit of its weight. */
#define CONSISTENT_HASH_POINTS_PER_WEIGHT 16u
/* Points of a member whose weight is the highest. */
#define CONSISTENT_HASH_ROW (256u * CONSISTENT_HASH_POINTS_PER_WEIGHT)

struct consistent_hash_point {
	uint32_t at;
	uint16_t who;
};

struct consistent_hash {
	struct consistent_hash_point *point; /* ascending */
	unsigned int n, cap;
};

/* With room for cap points: pages that no point ever uses cost nothing. 0 or -ERR_NOMEM. */
int consistent_hash_init(struct consistent_hash *r, unsigned int cap) must_check;
void consistent_hash_fini(struct consistent_hash *r);
void consistent_hash_clear(struct consistent_hash *r);
/* Points that depend on id alone, the first n of its row of CONSISTENT_HASH_ROW;
 * consistent_hash_sort() when all are in. */
void consistent_hash_add(struct consistent_hash *r, uint16_t who, uint32_t id, unsigned int n);
void consistent_hash_sort(struct consistent_hash *r);
/*
 * The place of the point a hash belongs to; what follows it is (place + 1) % r->n. Not of an
 * empty ring.
 */
unsigned int consistent_hash_find(const struct consistent_hash *r, uint32_t hash);

#endif
