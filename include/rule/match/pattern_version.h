/*
 * Versions of a map or an ACL (management manual 9.3): prepared, and cleared or committed as a
 * whole.
 *
 * These are planned and swept while others read, and applied while the workers are paused, which
 * takes constant time for a file. Between the parts it may be read and changed as usual. Where
 * rules change it the plan too is made while the workers are paused, which takes constant time
 * unless a version is committed that is not the last one prepared; and a step of the sweep runs
 * under the guard.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_VERSION_H
#define TACIT_RULE_MATCH_PATTERN_VERSION_H

#include "rule/match/pattern_ref.h"

struct pattern_change {
	struct pattern_set *to;  /* for each feed: the new set before the swap, the old one after
				  * it */
	uint32_t version;
	int clears;              /* clear; otherwise commit */
	int is_coming;           /* the sets are those of ref->coming, and `to` is empty before */
	uint64_t until;          /* later entries are kept */
	uint64_t after;          /* id of the last entry swept */
};

/* Prepares a new, empty version. */
uint32_t pattern_version_prepare(struct pattern_ref *ref);
/*
 * clears: its entries will be removed. Otherwise the version becomes current, and those before it
 * are removed. 0, -ERR_RANGE if it was not prepared or was committed already, or -ERR_NOMEM, when
 * nothing has changed.
 */
int pattern_version_plan(struct pattern_ref *ref, uint32_t version, int clears,
	struct pattern_change *ch) must_check;
/* Applies the change, directly after its plan. */
void pattern_version_apply(struct pattern_ref *ref, struct pattern_change *ch);
void pattern_version_forget(struct pattern_ref *ref, struct pattern_change *ch);
/* Sweeps this many entries and frees the deleted ones. 1: there are more. */
int pattern_version_sweep(struct pattern_ref *ref, struct pattern_change *ch, unsigned int n);
/* All of it at once, with the results of the plan. */
int pattern_version_replace(struct pattern_ref *ref, uint32_t version, int clears) must_check;

#endif
