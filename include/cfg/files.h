#ifndef TACIT_CFG_FILES_H
#define TACIT_CFG_FILES_H

#include <stddef.h>

#include "base/compiler.h"

/*
 * The base of relative names of files: `default-path` of the global section. The process changes
 * to that directory while it reads what the configuration names, and back at the end. A file that
 * is read only when all of the configuration is known has the directory of the file that names it.
 */
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

/* Sets the policy and changes to its directory. 0 or a negative reason. */
int cfg_dir_set(struct cfg_dir *d, struct sys *sys, enum cfg_dir_policy policy,
	const char *origin) must_check;
/* Changes to the directory of a file that was read; NULL: back to where the process was started. 0
 * or a negative reason. */
int cfg_dir_enter(struct cfg_dir *d, struct sys *sys, const struct cfg_file *f) must_check;

/*
 * The -f list (management manual, 3): each path is a file, or a directory whose "*.cfg" files that
 * do not start with a dot are read in byte order (LC_COLLATE=C). All system calls go through struct
 * sys.
 */

struct cfg_diag;
struct cfg_dir;
struct cfg_reader;

struct cfg_files {
	char **path;
	unsigned int npath, cap;
};

void cfg_files_init(struct cfg_files *fs);
void cfg_files_fini(struct cfg_files *fs);

/* Adds a -f argument, expanding directories. 0, or -1 with the reason in `diag`. */
int cfg_files_add(struct cfg_files *fs, struct sys *sys, const char *path,
		  struct cfg_diag *diag);

/* The paths joined with ';' for HAPROXY_CFGFILES; free with mem_free(). NULL when memory is out. */
char *cfg_files_join(const struct cfg_files *fs);

/* Reads every file and passes it to the reader. 0, or -1 when one could not be read or had errors;
 * all are tried. */
int cfg_files_read(const struct cfg_files *fs, struct sys *sys, struct cfg_dir *dir,
	struct cfg_reader *r);

#endif
