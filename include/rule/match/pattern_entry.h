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
	uint32_t version;
	uint32_t text_len, value_len;
	uint32_t has_first : 1;      /* `first` is a pattern */
	uint32_t first_at : 31; /* offset of the bytes that it needs; 0: there is no room for it */
	char *value; /* behind the text, or memory of its own once it was changed; NULL: none */
	struct kept_slot *slot;      /* in the memory that outlives the process; NULL: none */
	struct pattern
		first; /* its pattern for the first set; `next` leads to the others in any case */
	char bytes[];                /* text, value, and what `first` needs */
};

/* Its text and its value, each with a NUL behind. */
static inline struct str
pattern_entry_text(const struct pattern_entry *e)
{
	return (struct str){ e->bytes, e->text_len };
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
	return e->has_first ? &e->first : e->first.next;
}

/* The bytes behind one of its patterns. */
static inline char *
pattern_entry_bytes(const struct pattern *t)
{
	return t == &t->entry->first ? t->entry->bytes + t->entry->first_at
				     : (char *)(uintptr_t)(t + 1);
}

/* Copies both. NULL when memory is out. */
struct pattern_entry *pattern_entry_new(const struct keyhash *key, struct str text,
	struct str value) must_check;
/* The same with room for its first pattern, for this set and with these flags. */
struct pattern_entry *pattern_entry_new_for(const struct keyhash *key, struct str text,
	struct str value, const struct pattern_set *set, unsigned int flags) must_check;
/* in_sets: its patterns are in their sets and are removed from them. */
void pattern_entry_free(struct pattern_entry *e, int in_sets);
/* Makes another pattern for the feed's set, without adding it; the first one is for the set that
 * the entry has room for, if it has. 0, or a negative reason with *why. */
int pattern_entry_feed(struct pattern_entry *e, const struct pattern_feed *feed, enum pattern_op op,
	unsigned int flags, struct pattern **out, struct rule_err *why) must_check;
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
