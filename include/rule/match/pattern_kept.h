/*
 * Changes of a map or ACL file at run time, in a memory file that outlives the process
 * (base/memfile.h): a slot for each entry that was added, for each value of the file that was
 * changed, and for each key of the file that was deleted. A slot is freed with its entry, so the
 * memory does not grow with the number of changes. A later process reads the same file and repeats
 * the changes (pattern_kept_restore()), unless the file has changed too.
 *
 * Everything of a ref is changed by the thread that changes the ref.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_KEPT_H
#define TACIT_RULE_MATCH_PATTERN_KEPT_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/memfile.h"
#include "rule/match/pattern_ref.h"

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

/* Begins to keep the changes of a file's ref, in records of this kind with its path as the key.
 * Without a change nothing is written. 0 or -ERR_NOMEM. */
int pattern_kept_begin(struct pattern_ref *ref, struct memfile *file, uint32_t kind) must_check;

/* --- called with each change; a ref that is not saved is allowed --- */

void pattern_kept_add(struct pattern_ref *ref, struct pattern_entry *e);
void pattern_kept_change(struct pattern_ref *ref, struct pattern_entry *e);
/* Before its removal. */
void pattern_kept_drop(struct pattern_ref *ref, struct pattern_entry *e, int is_current);
/* `clear` or `commit` was applied. */
void pattern_kept_replace(struct pattern_ref *ref, int clears);

#endif
