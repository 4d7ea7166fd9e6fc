/*
 * The base of relative names of files: `default-path` of the global section. The process changes
 * to that directory while it reads what the configuration names, and back at the end. A file that
 * is read only when all of the configuration is known has the directory of the file that names it.
 */
#ifndef TACIT_CFG_DIR_H
#define TACIT_CFG_DIR_H

#include "base/compiler.h"

struct cfg_file;
struct sys;

enum cfg_dir_policy {
	CFG_DIR_CURRENT, /* where the process was started */
	CFG_DIR_CONFIG,  /* the configuration file's */
	CFG_DIR_PARENT,  /* the parent of that */
	CFG_DIR_ORIGIN,  /* one that the keyword names */
};

struct cfg_dir {
	enum cfg_dir_policy policy;
	char *origin;      /* of CFG_DIR_ORIGIN */
	char *cwd;         /* where the process was started; NULL: it never left */
	const char *path;  /* of the configuration file that is read, or NULL */
	unsigned int number;   /* of that file */
	char **of;         /* the directory of each file by its number; NULL: cwd */
	unsigned int n_of;
	const char *at;    /* the element of `of` that the process is in; NULL: cwd */
};

void cfg_dir_fini(struct cfg_dir *d);

/* Begins a configuration file with this number (struct cfg_file), in the directory of the policy.
 * 0 or a negative reason. */
int cfg_dir_begin(struct cfg_dir *d, struct sys *sys, const char *path,
	unsigned int number) must_check;
/* Sets the policy and changes to its directory. 0 or a negative reason. */
int cfg_dir_set(struct cfg_dir *d, struct sys *sys, enum cfg_dir_policy policy,
	const char *origin) must_check;
/* Changes to the directory of a file that was read; NULL: back to where the process was started. 0
 * or a negative reason. */
int cfg_dir_enter(struct cfg_dir *d, struct sys *sys, const struct cfg_file *f) must_check;

#endif
