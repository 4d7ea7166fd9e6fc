/*
 * A hash ring for consistent hashing (manual, `hash-type consistent`). Each member has many points;
 * a hash belongs to the nearest point in either direction. Adding or removing a member only moves
 * its own hashes. Points and results are the same as HAProxy's (observed), so that clients keep
 * their servers after a migration.
 */
#ifndef TACIT_PROXY_MODEL_CONSISTENT_HASH_H
#define TACIT_PROXY_MODEL_CONSISTENT_HASH_H

#include <stdint.h>

#include "base/compiler.h"

/* Points of a member per unit of weight. */
#define CONSISTENT_HASH_POINTS_PER_WEIGHT 16u
/* Points of a member with the maximum weight. */
#define CONSISTENT_HASH_ROW (256u * CONSISTENT_HASH_POINTS_PER_WEIGHT)

struct consistent_hash_point {
	uint32_t at;
	uint16_t who;
};

struct consistent_hash {
	struct consistent_hash_point *point; /* in ascending order */
	unsigned int n, cap;
};

/* Allocates room for cap points; pages of unused points cost nothing. 0 or -ERR_NOMEM. */
int consistent_hash_init(struct consistent_hash *r, unsigned int cap) must_check;
void consistent_hash_fini(struct consistent_hash *r);
void consistent_hash_clear(struct consistent_hash *r);
/* Adds the first n points of a member; they depend only on id, or on all bits of a key.
 * CONSISTENT_HASH_ROW points per id; call consistent_hash_sort() after the last one. */
void consistent_hash_add(struct consistent_hash *r, uint16_t who, uint32_t id, unsigned int n);
void consistent_hash_add_key(struct consistent_hash *r, uint16_t who, uint32_t key, unsigned int n);
void consistent_hash_sort(struct consistent_hash *r);
/*
 * Index of the point that a hash belongs to; the following point is (index + 1) % r->n. The ring
 * must not be empty.
 */
unsigned int consistent_hash_find(const struct consistent_hash *r, uint32_t hash);

#endif
