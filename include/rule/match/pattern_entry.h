/*
 * One entry of a map or an ACL, and the patterns that are made of it, one for each set that looks
 * at the entries in its way.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_ENTRY_H
#define TACIT_RULE_MATCH_PATTERN_ENTRY_H

#include "base/list.h"
#include "rule/match/pattern.h"

struct pattern_entry {
	struct list link;            /* in pattern_ref.entries, in the order they came */
	struct pattern_entry *next;  /* of the same bucket */
	uint64_t hash;               /* of text, with its owner's key */
	uint64_t id;                 /* what `show map` calls it */
	uint32_t version;
	struct str text, value;      /* end with a NUL; value.p NULL: none */
	char *changed;               /* where value lies once it was set */
	struct pattern *patterns;    /* made of it, by pattern.next: one per set */
	char bytes[];
};

/* A set that is made of the entries, and how. */
struct pattern_feed {
	struct pattern_set *set;
	unsigned int flags;          /* PATTERN_x */
};

/* Copies both. NULL when memory is out. */
struct pattern_entry *pattern_entry_new(const struct keyhash *key, struct str text,
	struct str value) must_check;
/* in_sets: its patterns are in their sets, and leave them. */
void pattern_entry_free(struct pattern_entry *e, int in_sets);
/* Is it of that text, whose keyhash() is given? */
int pattern_entry_is(const struct pattern_entry *e, struct str text, uint64_t hash);
/* One more pattern, of that owner, for the feed's set, which it does not enter. 0, or a negative
 * reason with *why. */
int pattern_entry_feed(struct pattern_entry *e, const struct pattern_feed *feed, const void *owner,
	struct pattern **out, struct rule_err *why) must_check;
/* Into the sets, all or none. */
int pattern_entry_enter(struct pattern_entry *e, struct rule_err *why) must_check;
/* Another value, a copy, in all sets or none. */
int pattern_entry_change(struct pattern_entry *e, struct str value,
	struct rule_err *why) must_check;

#endif
