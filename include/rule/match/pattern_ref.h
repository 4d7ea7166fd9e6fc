/*
 * What the admin socket calls a map or an ACL (management manual 9.3): the entries of a file, or
 * the patterns of one line `acl`. Of them sets are made, several where a file is looked at in
 * several ways. An entry has a version: those of the current one are in the sets, the others wait
 * for `commit`. All of it changes while no worker runs, or all stand still; where a rule changes
 * entries while others look (rule/match/pattern_live.h) the sets have its guard.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_REF_H
#define TACIT_RULE_MATCH_PATTERN_REF_H

#include "base/cursors.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "rule/match/pattern_table.h"

#define PATTERN_WHERE_MAX 65536      /* bytes of pattern_ref.where */
#define PATTERN_ID_MAX INT32_MAX
#define PATTERN_ID_NONE (-1)         /* gets a number when the configuration is whole */

struct pattern_ref {
	struct list link;            /* in pattern_files.refs */
	int64_t id;
	char *path;                  /* NULL: of a line */
	char id_text[12];            /* of -u, for an index */
	struct list views;           /* pattern_file.c's own: the sets made of a file */
	struct sbuf where;           /* who uses it, for `show map` */
	uint8_t is_map, is_acl;      /* who uses it */
	uint8_t two_columns;
	uint32_t version, next;      /* the current one, the last that was prepared */
	struct list entries;         /* of all versions, in the order of their numbers */
	struct cursors walks;        /* through them: pattern_ref_resume() */
	_Atomic uint64_t n;          /* entries: anybody may read it */
	uint64_t last_id;
	uint64_t cleared;            /* current entries up to this one are none any more */
	struct pattern_table table;  /* the same by text */
	struct pattern_feed *feed;   /* in order */
	unsigned int n_feeds;
	struct shared_lock lock;     /* the guard of its sets, if */
	uint8_t is_live;             /* rules change it */
	uint64_t refused;            /* changes that rules could not make */
};

/* path: NULL for one of a line. key: copied. NULL when memory is out. */
struct pattern_ref *pattern_ref_new(const char *path, const struct keyhash *key) must_check;
/* The sets are their owner's, and must not be looked at any more. */
void pattern_ref_free(struct pattern_ref **ref);
/* Makes the current entries part of a set, those to come too. 0, or a negative reason with *why. */
int pattern_ref_feed(struct pattern_ref *ref, struct pattern_set *set, unsigned int flags,
	struct rule_err *why) must_check;
/* Rules change it, which is known before any worker runs: its sets get a guard, those to come too.
 * Not for one of a line, which may share its set with others. */
void pattern_ref_guard(struct pattern_ref *ref);
/* May something be added to that version? It is not younger than the last one prepared. */
int pattern_ref_has_version(const struct pattern_ref *ref, uint32_t version);
/* Adds one behind the others, as pattern_set_add(): all sets take it, or none. */
int pattern_ref_add(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct rule_err *why) must_check;
/* The same in two steps: an entry that nobody finds yet, which changes nothing of ref, and its
 * place behind the others. What finds none stays the caller's, for pattern_entry_free(). */
int pattern_ref_make(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct pattern_entry **out, struct rule_err *why) must_check;
int pattern_ref_join(struct pattern_ref *ref, struct pattern_entry *e,
	struct rule_err *why) must_check;
/* Is it of the current version, and so in the sets? */
static inline int
pattern_ref_is_current(const struct pattern_ref *ref, const struct pattern_entry *e)
{
	return e->version == ref->version && e->id > ref->cleared;
}

/* Removes every entry of that text, whatever its version. How many there were. */
unsigned int pattern_ref_del(struct pattern_ref *ref, struct str text);
/* By its number, which takes long; NULL: there is none. To be changed by pattern_entry_change(). */
struct pattern_entry *pattern_ref_by_id(const struct pattern_ref *ref, uint64_t id) must_check;
void pattern_ref_del_entry(struct pattern_ref *ref, struct pattern_entry *e);
/*
 * Gives another value to every entry of that text; none has changed when this is no value for one
 * of the sets. How many there were, or a negative reason with *why.
 */
int pattern_ref_set(struct pattern_ref *ref, struct str text, struct str value,
	struct rule_err *why) must_check;
/* Around a look at the entries, by who runs while rules may change them. */
static inline void
pattern_ref_look(struct pattern_ref *ref, struct sys *sys)
{
	if (ref->is_live)
		shared_lock_look(&ref->lock, sys);
}

static inline void
pattern_ref_looked(struct pattern_ref *ref)
{
	if (ref->is_live)
		shared_lock_looked(&ref->lock);
}

/*
 * A walk through the entries in pieces, each between pattern_ref_look() and _looked(). It begins or
 * goes on behind number `after` (0: the first), at what pattern_ref_resume() returns, the list's
 * head at the end; and is interrupted before `next`. An entry that is there from the first piece
 * to the last is seen once; one that comes or goes meanwhile, once or not at all.
 */
struct list *pattern_ref_resume(struct pattern_ref *ref, uint64_t after) must_check;
void pattern_ref_pause(struct pattern_ref *ref, uint64_t after, struct list *next);

/* The first entry of that text in the current version, or NULL. */
const struct pattern_entry *pattern_ref_find(const struct pattern_ref *ref, struct str text);
/* Is there one in the current version, and has every one of that text that value? value.p NULL:
 * any. */
int pattern_ref_has(const struct pattern_ref *ref, struct str text, struct str value);
/* Removes the entries of a version. 0 or -ERR_NOMEM, when nothing has changed. */
int pattern_ref_clear(struct pattern_ref *ref, uint32_t version) must_check;
/* A new version, which is empty. */
uint32_t pattern_ref_prepare(struct pattern_ref *ref);
/*
 * The version becomes the current one, and those before it are gone. 0, -ERR_RANGE when it has not
 * been prepared or was committed already, or -ERR_NOMEM, when nothing has changed.
 */
int pattern_ref_commit(struct pattern_ref *ref, uint32_t version) must_check;

/*
 * The two above in parts, for one that no rule changes: planned and swept while others look entries
 * up, applied while nobody does, which takes no time for one of a file. Between the parts it may be
 * looked at and changed as ever.
 */
struct pattern_change {
	struct pattern_set *to;  /* for each feed: first the new one, then the old */
	uint32_t version;
	int clears;              /* or else commits */
	uint64_t until;          /* entries that came later stay */
	uint64_t after;          /* swept so far */
};
/* 0, or as pattern_ref_clear() and _commit(), when nothing is left to be done. */
int pattern_ref_plan(struct pattern_ref *ref, uint32_t version, int clears,
	struct pattern_change *ch) must_check;
/* At once after the plan. */
void pattern_ref_apply(struct pattern_ref *ref, struct pattern_change *ch);
void pattern_ref_forget(struct pattern_ref *ref, struct pattern_change *ch);
/* Looks at so many entries, and frees those that nobody finds any more. 1: there are more. */
int pattern_ref_sweep(struct pattern_ref *ref, struct pattern_change *ch, unsigned int n);

#endif
