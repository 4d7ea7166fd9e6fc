/*
 * A cycle of slots in which every member has as many as its weight says: who goes through it serves
 * by weight, and who takes the slot that a hash says, modulo its length, has hashed by weight.
 */
#ifndef TACIT_PROXY_MODEL_WEIGHTED_RR_H
#define TACIT_PROXY_MODEL_WEIGHTED_RR_H

#include <stdint.h>

#include "base/compiler.h"

#define WEIGHTED_RR_WEIGHT_MAX 256u

/* In which order the slots are given. */
enum weighted_rr_order {
	/* As even as can be: the k-th of w appearances stands about (2k+1)/2w of the way. */
	WEIGHTED_RR_EVEN,
	/*
	 * As HAProxy's static-rr and its hashes of type map-based have it (observed), so that who
	 * changes from one to the other finds the clients where they were: each member has a claim
	 * to begin with, one more whenever its share of the slots has grown by a slot, and one less
	 * for each that it got; the next slot is for the first of those with the most.
	 */
	WEIGHTED_RR_CLAIMS
};

struct weighted_rr {
	uint16_t *slot;          /* members, in the order they were added */
	unsigned int len, cap;
	/* What its construction needs. */
	struct weighted_rr_member *member;
	uint16_t *heap;          /* members, whose turn it is first */
	uint64_t *first;         /* of each number of claims who has so many, a bit each */
	unsigned int n;          /* members */
};

/* With room for n members. 0 or -ERR_NOMEM. */
int weighted_rr_init(struct weighted_rr *m, unsigned int n) must_check;
void weighted_rr_fini(struct weighted_rr *m);
void weighted_rr_clear(struct weighted_rr *m);
/* One more member, of a weight from 1 to WEIGHTED_RR_WEIGHT_MAX. */
void weighted_rr_add(struct weighted_rr *m, unsigned int weight);
/* Of all that were added. As long as the sum of what is left of their weights without their common
 * divisor; 0 slots for nobody. Once: clear and add them again for another one. */
void weighted_rr_build(struct weighted_rr *m, enum weighted_rr_order order);

#endif
