/*
 * Entries that rules change while other workers look (manual, http-request set-map and its like).
 * What is new is made before its guard is taken, so that those who look wait for its place alone:
 * what that costs does not grow with the number of entries, but where the method tries them one by
 * one, and, seldom, when the list of all doubles or a table that was outgrown is given back. Who
 * chooses the keys cannot make them fall together: they are hashed with a secret (base/keyhash.h).
 */
#ifndef TACIT_RULE_MATCH_PATTERN_LIVE_H
#define TACIT_RULE_MATCH_PATTERN_LIVE_H

#include "rule/match/pattern_ref.h"

/*
 * All entries of that text get the value, whatever their version; if there is none in the current
 * version, one is added. value.p NULL: of an ACL, whose entries stay as they are. 0, or a negative
 * reason with *why (not a value that the map can have, PATTERN_SET_MAX, no memory): nothing has
 * changed.
 */
int pattern_live_put(struct pattern_ref *ref, struct sys *sys, struct str text, struct str value,
	struct rule_err *why) must_check;
/* Removes every entry of that text. How many there were. */
unsigned int pattern_live_del(struct pattern_ref *ref, struct sys *sys, struct str text);
/* One more that could not be made: `show map` says how many. */
void pattern_live_refuse(struct pattern_ref *ref);

#endif
