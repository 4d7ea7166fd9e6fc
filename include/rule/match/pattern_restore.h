/*
 * Repeating the changes of a map or ACL file that a previous process has saved
 * (rule/match/pattern_ref.h). At the start, before workers run.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_RESTORE_H
#define TACIT_RULE_MATCH_PATTERN_RESTORE_H

#include "base/compiler.h"
#include "base/memfile.h"
#include "rule/match/pattern_ref.h"

enum pattern_restored {
	PATTERN_RESTORED,
	PATTERN_UNCHANGED,       /* nothing was saved */
	PATTERN_FILE_CHANGED,    /* the file is another: the saved changes are not used */
	PATTERN_DAMAGED
};

struct pattern_restore {
	unsigned int n;          /* changes repeated */
	unsigned int refused; /* values that are not valid any more, and changes that were lost */
};

/* Repeats the changes that a previous process has saved: the payloads of its records of this ref.
 * They may be written meanwhile, and may be hostile. */
enum pattern_restored pattern_kept_restore(struct pattern_ref *ref,
	const struct memfile_item *const *chunk, unsigned int n, struct pattern_restore *out);

#endif
