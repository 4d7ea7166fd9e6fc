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
	union {
		uint64_t id;         /* its id in `show map` */
		uint64_t hash;       /* of its text, until it is added to a ref */
	};
	char *value; /* in `bytes`, or memory of its own once it was changed; NULL: none */
	struct kept_slot *slot;      /* in the memory that outlives the process; NULL: none */
	uint32_t version, value_len;
	/* Its pattern for the first set, if that has `is_first`; `next` leads to the others in any
	 * case. */
	struct pattern first;
	char bytes[];                /* text, what `first` needs, value */
};

/* A pattern beside its entry, with the bytes that it needs. */
struct pattern_more {
	struct pattern_entry *entry;
	struct pattern t;
	char bytes[];
};

/* The owner of a pattern: text and value. */
static inline struct pattern_entry *
pattern_entry_of(const struct pattern *t)
{
	return t->is_first ? container_of(t, struct pattern_entry, first)
			   : container_of(t, struct pattern_more, t)->entry;
}

/* Its text and its value, each with a NUL behind. */
static inline struct str
pattern_entry_text(const struct pattern_entry *e)
{
	return (struct str){ e->bytes, e->first.text_len };
}

/* p NULL: it has no value. */
static inline struct str
pattern_entry_value(const struct pattern_entry *e)
{
	return (struct str){ e->value, e->value_len };
}

/* The first of its patterns, or NULL; pattern.next leads on. */
static inline struct pattern *
pattern_entry_first(struct pattern_entry *e)
{
	return e->first.is_first ? &e->first : e->first.next;
}

/* Copies both. NULL when memory is out, or for a text that pattern_check_text() refuses. */
struct pattern_entry *pattern_entry_new(const struct keyhash *key, struct str text,
	struct str value) must_check;
/* The same with room for its first pattern, for this set and with these flags. */
struct pattern_entry *pattern_entry_new_for(const struct keyhash *key, struct str text,
	struct str value, const struct pattern_set *set, unsigned int flags) must_check;
/* Its patterns are in no set. */
void pattern_entry_free(struct pattern_entry *e);
/* Makes another pattern for this set, without adding it; the first one is for the set that the
 * entry has room for, if it has. 0, or a negative reason with *why. */
int pattern_entry_feed(struct pattern_entry *e, const struct pattern_set *set, enum pattern_op op,
	unsigned int flags, struct pattern **out, struct rule_err *why) must_check;
/* Adds its patterns to the sets of these feeds, which they were made for, in order: to all or
 * none; and removes them from these. */
int pattern_entry_enter(struct pattern_entry *e, struct pattern_feed *const *feed,
	struct rule_err *why) must_check;
void pattern_entry_leave(struct pattern_entry *e, struct pattern_feed *const *feed);
/* The same for other sets. */
int pattern_entry_enter_sets(struct pattern_entry *e, struct pattern_set *sets,
	struct rule_err *why) must_check;
void pattern_entry_leave_sets(struct pattern_entry *e, struct pattern_set *sets);
/* Sets another value, copied, in all sets or none. */
int pattern_entry_change(struct pattern_entry *e, struct str value,
	struct rule_err *why) must_check;

#endif
