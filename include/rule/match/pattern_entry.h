/*
 * An entry of a map or an ACL, and the patterns made from it: one for each set of the map or ACL.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_ENTRY_H
#define TACIT_RULE_MATCH_PATTERN_ENTRY_H

#include "base/list.h"
#include "rule/match/pattern.h"

struct kept_slot;

struct pattern_entry {
	struct list link;            /* in pattern_ref.entries, in order of addition */
	struct pattern_entry *next;  /* next in the same bucket */
	uint64_t hash;               /* of text, with its owner's key */
	uint64_t id;                 /* its id in `show map` */
	uint32_t version;
	struct str text, value;      /* NUL-terminated; value.p NULL: none */
	struct kept_slot *slot;      /* in the memory that outlives the process; NULL: none */
	char *changed;               /* storage of a value that was changed */
	struct pattern *patterns;    /* its patterns, linked by pattern.next: one per set */
	char bytes[];
};

/* A set made from the entries, and its options. */
struct pattern_feed {
	struct pattern_set *set;
	unsigned int flags;          /* PATTERN_x */
};

/* Copies both. NULL when memory is out. */
struct pattern_entry *pattern_entry_new(const struct keyhash *key, struct str text,
	struct str value) must_check;
/* in_sets: its patterns are in their sets and are removed from them. */
void pattern_entry_free(struct pattern_entry *e, int in_sets);
/* True if it has this text, with this keyhash(). */
int pattern_entry_is(const struct pattern_entry *e, struct str text, uint64_t hash);
/* Makes another pattern with this owner for the feed's set, without adding it. 0, or a negative
 * reason with *why. */
int pattern_entry_feed(struct pattern_entry *e, const struct pattern_feed *feed, const void *owner,
	struct pattern **out, struct rule_err *why) must_check;
/* Adds its patterns to the sets, all or none. */
int pattern_entry_enter(struct pattern_entry *e, struct rule_err *why) must_check;
/* The same for others, one for each set, in order; and removes them from these. */
int pattern_entry_enter_sets(struct pattern_entry *e, struct pattern_set *sets,
	struct rule_err *why) must_check;
void pattern_entry_leave_sets(struct pattern_entry *e, struct pattern_set *sets);
/* Sets another value, copied, in all sets or none. */
int pattern_entry_change(struct pattern_entry *e, struct str value,
	struct rule_err *why) must_check;

#endif
