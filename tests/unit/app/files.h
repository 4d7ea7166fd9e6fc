/* A temporary directory for a test, and files in it. */
#ifndef TESTS_UNIT_APP_FILES_H
#define TESTS_UNIT_APP_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char files_dir[64];

static inline int
files_open(void **state)
{
	(void)state;
	snprintf(files_dir, sizeof(files_dir), "/tmp/tacit-unit-XXXXXX");
	return mkdtemp(files_dir) ? 0 : -1;
}

static inline int
files_close(void **state)
{
	DIR *d = opendir(files_dir);
	char path[400];

	(void)state;
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof(path), "%s/%s", files_dir, e->d_name);
		(void)unlink(path);
	}
	if (d)
		closedir(d);
	return rmdir(files_dir);
}

/* The path of a file in it; valid until the fourth call after this one. */
static inline const char *
files_path(const char *name)
{
	static char buf[4][128];
	static int next;
	char *p = buf[next++ % 4];

	snprintf(p, sizeof(buf[0]), "%s/%s", files_dir, name);
	return p;
}

static inline const char *
files_write(const char *name, const char *text)
{
	const char *path = files_path(name);
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
	return path;
}

#endif
