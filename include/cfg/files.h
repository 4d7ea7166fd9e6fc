#ifndef TACIT_CFG_FILES_H
#define TACIT_CFG_FILES_H

#include <stddef.h>

/*
 * The -f list (management manual, 3): each path is a file, or a directory whose "*.cfg" files that
 * do not start with a dot are read in byte order (LC_COLLATE=C). All system calls go through struct
 * sys.
 */

struct sys;
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
