/*
 * A map or ACL as the admin socket sees it (management manual 9.3): the entries of a file, or the
 * patterns of one `acl` line. Sets are made from it, several if a file is used with different
 * options. An entry has a version: those of the current version are in the sets, the others wait
 * for `commit`. It changes only before workers run or while all are paused; where a rule changes
 * entries at run time (rule/match/pattern_live.h) the sets have its guard.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_REF_H
#define TACIT_RULE_MATCH_PATTERN_REF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/cursors.h"
#include "base/list.h"
#include "base/memfile.h"
#include "rule/match/pattern_entry.h"

/*
 * A hash table of entries by text; several may have the same text. A full table is enlarged step by
 * step, with each entry that is added, so that no single change has to wait for all of it.
 */
struct pattern_table {
	struct keyhash key;            /* of the entries' hashes */
	struct pattern_entry **bucket; /* a list each, by pattern_entry.next */
	uint32_t n_buckets;            /* a power of two, or 0 */
	struct pattern_entry **old;    /* half as many, while the table grows; otherwise NULL */
	uint32_t moved;                /* this many buckets of old have been moved; unmoved new
				        * buckets are unused */
};

/* An entry with this text, and the next one, in any order. NULL: none. */
struct pattern_entry *pattern_table_find(const struct pattern_table *t, struct str text);

enum kept_slot_kind {
	KEPT_SLOT_FREE,
	KEPT_SLOT_ENTRY,      /* was added */
	KEPT_SLOT_VALUE,      /* an entry of the file has another value */
	KEPT_SLOT_GONE,       /* a key of the file was deleted */
	KEPT_SLOT_KINDS
};

#define KEPT_SLOT_NO_VALUE UINT32_MAX
struct kept_slot {
	uint32_t size;
	_Atomic uint32_t kind;
	uint32_t version;        /* of the entry */
	uint32_t text_len, value_len;
	uint32_t reserved;
	_Atomic uint64_t serial; /* in order of addition; of a changed entry that which it had */
	char bytes[];            /* text, value */
};

/* In the first chunk of a ref. */
struct pattern_kept_head {
	uint32_t is_first;       /* 1; other chunks have 0 */
	uint32_t file_hash;
	uint32_t file_is_gone;   /* all entries of the file were deleted */
	uint32_t version;        /* the current one */
	uint64_t cleared;        /* entries of serials up to this one were deleted */
	uint64_t lost;           /* changes that found no room */
};

#define KEPT_SLOT_MIN_BITS 6
#define KEPT_SLOT_MAX_BITS 20
struct pattern_kept {
	struct memfile *file;
	uint32_t kind;           /* of its records */
	uint64_t serial;
	struct pattern_kept_head *head;
	char *at;                /* free memory of the latest chunk */
	size_t left;
	struct kept_slot *free[KEPT_SLOT_MAX_BITS + 1]; /* by size */
};

#define PATTERN_WHERE_MAX 32768      /* bytes of pattern_ref.where after which no place is added */
#define PATTERN_ID_MAX INT32_MAX
#define PATTERN_ID_NONE (-1)         /* gets a number when the configuration is complete */

struct pattern_kept;
struct pattern_view;

/* The sets of the version that was prepared last, filled as its entries are added, so that its
 * commit only swaps them. Not of an `acl` line. */
struct pattern_next {
	struct pattern_set *set;     /* for each feed; NULL: there is no such version */
	uint32_t version;
	uint64_t after;              /* its entries with ids up to this one are deleted */
};

struct pattern_ref {
	struct list link;            /* in pattern_files.refs */
	int64_t id;
	char *path;                  /* NULL: of a line */
	char id_text[12];            /* text of -u, for an index */
	struct pattern_view *views;  /* private to pattern_file.c: the sets made from a file */
	char *where;                 /* places that use it, for `show map` */
	uint32_t where_len;
	uint8_t is_map, is_acl;      /* kinds of use */
	uint8_t two_columns;
	uint32_t version, next;      /* the current version, and the last one prepared */
	struct pattern_next coming;
	struct list entries;         /* of all versions, in order of their ids */
	struct cursors *walks; /* positions of walks over them (pattern_ref_resume()), or NULL */
	_Atomic uint64_t n;          /* number of entries; any thread may read it */
	uint64_t last_id;
	uint64_t cleared;            /* current entries with ids up to this one are deleted */
	struct pattern_table table;  /* the entries by text */
	struct pattern_feed **feed;  /* one for each set, in order */
	unsigned int n_feeds;
	struct shared_lock lock;     /* the guard of its sets, if is_live */
	uint8_t is_live;             /* rules change it */
	uint64_t refused;            /* number of failed changes by rules */
	uint32_t file_hash;          /* of the bytes of the file */
	struct pattern_kept *kept;   /* its changes outlive the process; NULL: they do not */
};

/* path: NULL for an `acl` line. key: copied. NULL when memory is out. */
struct pattern_ref *pattern_ref_new(const char *path, const struct keyhash *key) must_check;
/* The sets have another owner and must not be used any more. */
void pattern_ref_free(struct pattern_ref **ref);
/* Adds current and future entries to a set, which has the key of ref. 0, or a negative reason with
 * *why. */
int pattern_ref_feed(struct pattern_ref *ref, struct pattern_set *set, unsigned int flags,
	struct rule_err *why) must_check;
/* The reverse, for a ref that has no entries and is to be freed before its sets. */
void pattern_ref_unfeed(struct pattern_ref *ref);
/* Marks it as changed by rules, before any worker runs: its current and future sets get a guard.
 * Not for an `acl` line, which may share its set with others. */
void pattern_ref_guard(struct pattern_ref *ref);
/* True if entries may be added to this version: it is not newer than the last one prepared. */
int pattern_ref_has_version(const struct pattern_ref *ref, uint32_t version);
/* Appends an entry, as pattern_set_add(): to all sets or none. */
int pattern_ref_add(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct rule_err *why) must_check;
/* The same in two steps: making an entry, which does not change ref, and appending it. An entry
 * that is not appended belongs to the caller, for pattern_entry_free(). */
int pattern_ref_make(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct pattern_entry **out, struct rule_err *why) must_check;
int pattern_ref_join(struct pattern_ref *ref, struct pattern_entry *e,
	struct rule_err *why) must_check;
/* Makes room for about n entries in an empty ref and its sets. 0, or a negative reason with
 * *why. */
int pattern_ref_expect(struct pattern_ref *ref, uint64_t n, struct rule_err *why) must_check;
/* Asks for the memory that appending e will touch. */
void pattern_ref_prefetch(struct pattern_ref *ref, struct pattern_entry *e);
/* True if it is of the current version, and so in the sets. */
static inline int
pattern_ref_is_current(const struct pattern_ref *ref, const struct pattern_entry *e)
{
	return e->version == ref->version && e->id > ref->cleared;
}

/* Removes every entry with this text, in any version. Returns their number. */
unsigned int pattern_ref_del(struct pattern_ref *ref, struct str text);
/* By its id, in linear time; NULL: none. */
struct pattern_entry *pattern_ref_by_id(const struct pattern_ref *ref, uint64_t id) must_check;
/* Sets its value, as pattern_ref_set(). 0, or a negative reason with *why. */
int pattern_ref_set_entry(struct pattern_ref *ref, struct pattern_entry *e, struct str value,
	struct rule_err *why) must_check;
void pattern_ref_del_entry(struct pattern_ref *ref, struct pattern_entry *e);
/*
 * Sets the value of every entry with this text; none has changed if the value is invalid for one of
 * the sets. Returns their number, or a negative reason with *why.
 */
int pattern_ref_set(struct pattern_ref *ref, struct str text, struct str value,
	struct rule_err *why) must_check;
/* Begins reading the entries where rules may change them. */
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
 * A walk over the entries in steps, each between pattern_ref_look() and _looked(). It starts or
 * continues after entry `after` (0: at the first), at the position that pattern_ref_resume()
 * returns, the list head at the end; it is interrupted before `next`. An entry that exists during
 * the whole walk is visited once; one that is added or removed meanwhile at most once.
 */
struct list *pattern_ref_resume(struct pattern_ref *ref, uint64_t after) must_check;
void pattern_ref_pause(struct pattern_ref *ref, uint64_t after, struct list *next);

/* The first entry with this text in the current version, or NULL. */
const struct pattern_entry *pattern_ref_find(const struct pattern_ref *ref, struct str text);
/* True if the current version has an entry with this text, and all of them have this value. value.p
 * NULL: any value. */
int pattern_ref_has(const struct pattern_ref *ref, struct str text, struct str value);

/* There is no such version any more. */
void pattern_coming_end(struct pattern_ref *ref);

/* True if the entry is in these sets, or is to be added to them. */
static inline int
pattern_coming_has(const struct pattern_ref *ref, const struct pattern_entry *e)
{
	return ref->coming.set && e->version == ref->coming.version && e->id > ref->coming.after;
}

/* Begins to keep the changes of a file's ref, in records of this kind with its path as the key.
 * Without a change nothing is written. 0 or -ERR_NOMEM. */
int pattern_kept_begin(struct pattern_ref *ref, struct memfile *file, uint32_t kind) must_check;
/* `clear` or `commit` was applied. */
void pattern_kept_replace(struct pattern_ref *ref, int clears);

#endif
