/*
 * Entries that rules change while other workers read (manual, http-request set-map and similar).
 * New data is made before the guard is taken, so that readers only wait for the insertion. Its cost
 * does not depend on the number of entries, except where the method tries them one by one and,
 * rarely, when the list of all patterns is enlarged or an old table is freed. Hashes are keyed, so
 * that clients cannot choose colliding keys (base/hash.h).
 */
#ifndef TACIT_RULE_MATCH_PATTERN_LIVE_H
#define TACIT_RULE_MATCH_PATTERN_LIVE_H

#include "rule/match/pattern_ref.h"

/*
 * Sets the value of all entries with that text, in any version; if the current version has none,
 * adds one. value.p NULL: an ACL, whose existing entries stay as they are. 0, or a negative reason
 * with *why (invalid value, PATTERN_SET_MAX, no memory): nothing has changed.
 */
int pattern_live_put(struct pattern_ref *ref, struct sys *sys, struct str text, struct str value,
	struct rule_err *why) must_check;
/* Removes every entry with that text. Returns their number. */
unsigned int pattern_live_del(struct pattern_ref *ref, struct sys *sys, struct str text);
/* Counts a failed change, for `show map`. */
void pattern_live_refuse(struct pattern_ref *ref);

#endif
