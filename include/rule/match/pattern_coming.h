/*
 * The sets of the version that was prepared last (struct pattern_next), which the admin socket
 * fills with its entries. First worker; no lookup sees them before the commit.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_COMING_H
#define TACIT_RULE_MATCH_PATTERN_COMING_H

#include "rule/match/pattern_ref.h"

/* Empty sets for this version, which has no entries or whose entries will all be deleted; what they
 * were for before has none from now on. Without memory it has none either: its commit takes
 * longer. */
void pattern_coming_begin(struct pattern_ref *ref, uint32_t version);
/* There is no such version any more. */
void pattern_coming_end(struct pattern_ref *ref);
/* True if the entry is in these sets, or is to be added to them. */
static inline int
pattern_coming_has(const struct pattern_ref *ref, const struct pattern_entry *e)
{
	return ref->coming.set && e->version == ref->coming.version && e->id > ref->coming.after;
}

#endif
