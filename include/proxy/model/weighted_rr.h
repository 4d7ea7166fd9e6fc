/*
 * A cycle of slots in which each member occurs in proportion to its weight. Iterating over it gives
 * weighted round robin; indexing it by a hash modulo its length gives weighted hashing.
 */
#ifndef TACIT_PROXY_MODEL_WEIGHTED_RR_H
#define TACIT_PROXY_MODEL_WEIGHTED_RR_H

#include <stdint.h>

#include "base/compiler.h"

#define WEIGHTED_RR_WEIGHT_MAX 256u

/* Order of the slots. */
enum weighted_rr_order {
	/* As even as possible: occurrence k of w is at about (2k+1)/2w of the cycle. */
	WEIGHTED_RR_EVEN,
	/*
	 * The order of HAProxy's static-rr and map-based hashes (observed), so that clients keep
	 * their servers after a migration: each member starts with one credit, gains one whenever
	 * its share of the slots has grown by a slot, and loses one for each slot it gets; the next
	 * slot goes to the first member with the most credits.
	 */
	WEIGHTED_RR_CLAIMS
};

struct weighted_rr {
	uint16_t *slot;          /* member indexes, in the order of addition */
	unsigned int len, cap;
	/* Temporary data for the construction. */
	struct weighted_rr_member *member;
	uint16_t *heap;          /* members, the next one first */
	uint64_t *first;         /* for each number of credits the members that have it, one bit
				  * each */
	unsigned int n;          /* members */
};

/* Allocates room for n members. 0 or -ERR_NOMEM. */
int weighted_rr_init(struct weighted_rr *m, unsigned int n) must_check;
void weighted_rr_fini(struct weighted_rr *m);
void weighted_rr_clear(struct weighted_rr *m);
/* Adds a member with a weight from 1 on. The sum of the weights of the members must not exceed
 * their number times WEIGHTED_RR_WEIGHT_MAX, unless they have a common divisor. */
void weighted_rr_add(struct weighted_rr *m, unsigned int weight);
/* Builds the cycle of all members. Its length is the sum of the weights divided by their greatest
 * common divisor; 0 without members. Once: clear and add them again for another cycle. */
void weighted_rr_build(struct weighted_rr *m, enum weighted_rr_order order);

#endif
