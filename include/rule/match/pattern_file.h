/*
 * Pattern files and inline patterns: files with one pattern per line (`-f` of ACLs) or a key and a
 * value per line (maps; manual 7.1, 7.3.1 map), and the patterns in `acl` lines. Read with the
 * configuration. A file is read once; uses with the same options share a set. The admin socket may
 * change it later, while all workers are paused.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_FILE_H
#define TACIT_RULE_MATCH_PATTERN_FILE_H

#include "base/list.h"
#include "base/name_index.h"
#include "rule/match/pattern_ref.h"

struct cfg_diag;
struct sys;

#define PATTERN_FILE_MAX (256u << 20) /* bytes of one */

/* All pattern files of a configuration; owns everything made from them. */
struct pattern_files {
	struct list refs;        /* struct pattern_ref.link: sorted by number once they have
				  * numbers */
	struct list sets;        /* pattern_file.c's own */
	struct name_index paths; /* of refs that have one */
	struct name_index ids;   /* of refs of lines with -u */
	struct sys *sys;         /* to read with; NULL: files are not supported */
	struct keyhash key;      /* for all hashes; keyhash_known before a secret one is drawn */
	const struct cfg_diag *diag; /* knows the line being read; NULL: none */
	struct rule_err why;     /* of the last failure */
};

/* Options of a file's use. */
struct pattern_file_use {
	const char *path;
	enum pattern_method method;
	enum sample_type out;    /* as in pattern_set: ANY for ACLs */
	unsigned int flags;      /* PATTERN_NOCASE, PATTERN_NO_DNS */
	int two_columns;         /* a key and a value per line */
};

void pattern_files_init(struct pattern_files *f, struct sys *sys);
void pattern_files_fini(struct pattern_files *f);
/* The set, owned by f; NULL: f->why has the reason, with the line. */
const struct pattern_set *pattern_files_get(struct pattern_files *f,
	const struct pattern_file_use *use) must_check;

/* The patterns of an `acl` line. */
struct pattern_line {
	enum pattern_method method;
	unsigned int flags;
	struct str name;         /* of the fetch, as written */
	int64_t id;              /* -u, or PATTERN_ID_NONE */
	const struct pattern_set *join; /* the set of an earlier line, to be extended; or NULL */
};

/*
 * The ref of the line, owned by f; *set is the set for matching. NULL: f->why has the reason.
 * Patterns are then added with pattern_ref_add().
 */
struct pattern_ref *pattern_files_line(struct pattern_files *f, const struct pattern_line *line,
	const struct pattern_set **set) must_check;
/* Called when the configuration is complete: assigns the lowest free numbers to refs without one;
 * host names are errors from now on. 0 or -ERR_NOMEM. */
int pattern_files_finish(struct pattern_files *f) must_check;
/* By "#<number>" or by file. NULL: none. */
struct pattern_ref *pattern_files_find(const struct pattern_files *f, const char *name);

#endif
