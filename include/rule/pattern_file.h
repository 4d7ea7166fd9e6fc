/*
 * Files of patterns: `-f` of ACLs, one pattern per line, and maps, a key and a value per line
 * (manual 7.1, 7.3.1 map). Read while the configuration is; who names the same file in the same
 * way shares one set.
 */
#ifndef TACIT_RULE_PATTERN_FILE_H
#define TACIT_RULE_PATTERN_FILE_H

#include "base/list.h"
#include "rule/pattern.h"

struct sys;

#define PATTERN_FILE_MAX (256u << 20) /* bytes of one */

/* All of a configuration: owns the sets. */
struct pattern_files {
	struct list all;         /* pattern_file.c's own */
	struct sys *sys;         /* to read with; NULL: there are no files */
	struct rule_err why;     /* of the last failure */
};

/* What a set is made of; equal ones are one. */
struct pattern_file_use {
	const char *path;
	enum pattern_method method;
	enum sample_type out;    /* of pattern_set */
	unsigned int flags;      /* PATTERN_NOCASE, PATTERN_NO_DNS */
	int two_columns;         /* a map: a key and a value */
};

void pattern_files_init(struct pattern_files *f, struct sys *sys);
void pattern_files_fini(struct pattern_files *f);
/* The set, owned by f; NULL: f->why says why, with the line. */
const struct pattern_set *pattern_files_get(struct pattern_files *f,
	const struct pattern_file_use *use) must_check;
/* The lines of a file's text into a set. 0, or a negative reason with *why naming the line. */
int pattern_file_parse(struct pattern_set *p, struct str text, const struct pattern_file_use *use,
	struct rule_err *why) must_check;

#endif
