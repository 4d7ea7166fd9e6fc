/*
 * What a configuration compares with: files of patterns, `-f` of ACLs, one pattern per line, and
 * maps, a key and a value per line (manual 7.1, 7.3.1 map), and the patterns that stand in lines
 * `acl`. Read while the configuration is. A file is read once; who looks at it in the same way
 * shares one set. Later the admin socket changes it, while all workers stand still.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_FILE_H
#define TACIT_RULE_MATCH_PATTERN_FILE_H

#include "base/list.h"
#include "base/name_index.h"
#include "rule/match/pattern_ref.h"

struct cfg_diag;
struct sys;

#define PATTERN_FILE_MAX (256u << 20) /* bytes of one */

/* All of a configuration: owns what is made of them. */
struct pattern_files {
	struct list refs;        /* struct pattern_ref.link: by number, once they have numbers */
	struct list sets;        /* pattern_file.c's own */
	struct name_index paths; /* of refs that have one */
	struct name_index ids;   /* of refs of lines with -u */
	struct sys *sys;         /* to read with; NULL: there are no files */
	struct keyhash key;      /* of all hashes; keyhash_known, before a secret one is drawn */
	const struct cfg_diag *diag; /* knows the line that is being read; NULL: nobody does */
	struct rule_err why;     /* of the last failure */
};

/* How a file is looked at. */
struct pattern_file_use {
	const char *path;
	enum pattern_method method;
	enum sample_type out;    /* of pattern_set: ANY for ACLs */
	unsigned int flags;      /* PATTERN_NOCASE, PATTERN_NO_DNS */
	int two_columns;         /* a key and a value */
};

void pattern_files_init(struct pattern_files *f, struct sys *sys);
void pattern_files_fini(struct pattern_files *f);
/* The set, owned by f; NULL: f->why says why, with the line. */
const struct pattern_set *pattern_files_get(struct pattern_files *f,
	const struct pattern_file_use *use) must_check;

/* The patterns of a line `acl`. */
struct pattern_line {
	enum pattern_method method;
	unsigned int flags;
	struct str name;         /* of the fetch, as written */
	int64_t id;              /* -u, or PATTERN_ID_NONE */
	const struct pattern_set *join; /* of an earlier line, that is to hold these too; or NULL */
};

/*
 * Where they belong, owned by f; *set is what they are found in. NULL: f->why says why. They are
 * then added, with pattern_ref_add().
 */
struct pattern_ref *pattern_files_line(struct pattern_files *f, const struct pattern_line *line,
	const struct pattern_set **set) must_check;
/* The configuration is whole: who has no number gets one, the least that are free; from now on host
 * names are errors. 0 or -ERR_NOMEM. */
int pattern_files_finish(struct pattern_files *f) must_check;
/* By "#<number>" or by file. NULL: there is none. */
struct pattern_ref *pattern_files_find(const struct pattern_files *f, const char *name);
/* The lines of a file's text. 0, or a negative reason with *why naming the line. */
int pattern_file_parse(struct pattern_ref *ref, struct str text, struct rule_err *why) must_check;

#endif
