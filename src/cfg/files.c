/* Finds and reads configuration files, through struct sys. Main thread. A failed file is
 * reported and the others are still read. */
#include "cfg/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cfg/diag.h"
#include "cfg/dir.h"
#include "cfg/reader.h"

enum {
	DIR_CHUNK = 32768,	/* bytes of directory entries asked for at once */
};

void
cfg_files_init(struct cfg_files *fs)
{
	memset(fs, 0, sizeof(*fs));
}

void
cfg_files_fini(struct cfg_files *fs)
{
	for (unsigned int i = 0; i < fs->npath; i++)
		mem_free(fs->path[i]);
	mem_free(fs->path);
	memset(fs, 0, sizeof(*fs));
}

static int
report_path(struct cfg_diag *diag, const char *path, const char *what, long why)
{
	cfg_diag_add(diag, CFG_ALERT, NULL, "%s '%.500s': %s", what, path, err_text((int)why));
	return -1;
}

/* Appends `path` and takes ownership, also on failure. */
static long
append_path(struct cfg_files *fs, char *path)
{
	char **grown;

	if (!path)
		return -ENOMEM;
	if (fs->npath == CFG_FILES_MAX) {
		mem_free(path);
		return -ERR_FULL;
	}
	grown = array_grow(fs->path, fs->npath, &fs->cap, sizeof(*grown));
	if (!grown) {
		mem_free(path);
		return -ENOMEM;
	}
	fs->path = grown;
	fs->path[fs->npath++] = path;
	return 0;
}

/* "*.cfg" that is not hidden. */
static int
is_wanted(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && name[0] != '.' && strcmp(name + len - 4, ".cfg") == 0;
}

static char *
path_join(const char *dir, const char *name)
{
	size_t dlen = strlen(dir), nlen = strlen(name);
	char *p = mem_alloc(dlen + nlen + 2);

	if (!p)
		return NULL;
	memcpy(p, dir, dlen);
	if (dlen && dir[dlen - 1] != '/')
		p[dlen++] = '/';
	memcpy(p + dlen, name, nlen + 1);
	return p;
}

/* Adds the files of one batch of directory entries; others are ignored, as in HAProxy. */
static long
take_entries(struct cfg_files *fs, struct sys *sys, const char *dir, const char *buf, long len)
{
	const struct dirent64 *e;
	struct stat st;
	char *path;
	long rc;

	for (long at = 0; at < len; at += e->d_reclen) {
		e = (const void *)(buf + at);
		if (!is_wanted(e->d_name))
			continue;
		path = path_join(dir, e->d_name);
		if (!path)
			return -ENOMEM;
		rc = sys_stat(sys, path, &st);
		if (rc < 0 || !S_ISREG(st.st_mode)) {
			mem_free(path);
			if (rc < 0)
				return rc;
			continue;
		}
		rc = append_path(fs, path);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Byte order in any locale: LC_COLLATE=C. Directories are short. */
static void
sort_paths(char **path, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		char *p = path[i];
		unsigned int j = i;

		for (; j > 0 && strcmp(path[j - 1], p) > 0; j--)
			path[j] = path[j - 1];
		path[j] = p;
	}
}

static long
add_directory(struct cfg_files *fs, struct sys *sys, const char *dir)
{
	unsigned int first = fs->npath;
	char *buf = mem_alloc(DIR_CHUNK);
	long fd, n, rc = 0;

	if (!buf)
		return -ENOMEM;
	fd = sys_openat(sys, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0) {
		mem_free(buf);
		return fd;
	}
	while (rc == 0 && (n = sys_getdents64(sys, (int)fd, buf, DIR_CHUNK)) != 0)
		rc = n < 0 ? n : take_entries(fs, sys, dir, buf, n);
	sys_close(sys, (int)fd);
	mem_free(buf);
	sort_paths(fs->path + first, fs->npath - first);
	return rc;
}

int
cfg_files_add(struct cfg_files *fs, struct sys *sys, const char *path, struct cfg_diag *diag)
{
	struct stat st;
	long rc = sys_stat(sys, path, &st);

	if (rc < 0)
		return report_path(diag, path, "cannot open configuration file/directory", rc);
	if (S_ISDIR(st.st_mode)) {
		rc = add_directory(fs, sys, path);
		if (rc < 0)
			return report_path(diag, path, "cannot read configuration directory", rc);
		return 0;
	}
	rc = append_path(fs, mem_strdup(path));
	return rc < 0 ? report_path(diag, path, "cannot take configuration file", rc) : 0;
}

char *
cfg_files_join(const struct cfg_files *fs)
{
	size_t len = 1;
	char *all, *p;

	for (unsigned int i = 0; i < fs->npath; i++)
		len += strlen(fs->path[i]) + 1;
	all = p = mem_alloc(len);
	if (!all)
		return NULL;
	for (unsigned int i = 0; i < fs->npath; i++) {
		size_t l = strlen(fs->path[i]);

		if (i > 0)
			*p++ = ';';
		memcpy(p, fs->path[i], l);
		p += l;
	}
	*p = '\0';
	return all;
}

static int
read_one(struct sys *sys, const char *path, struct cfg_dir *dir, struct cfg_reader *r)
{
	char *text;
	size_t len;
	long rc = file_read(sys, path, CFG_FILE_MAX, &text, &len);
	int bad;

	if (rc < 0)
		return report_path(r->ctx.diag, path, "cannot read configuration file", rc);
	rc = cfg_dir_begin(dir, sys, path, r->ctx.diag->nfile);
	bad = rc < 0 ? report_path(r->ctx.diag, path, "cannot change to the directory of", rc)
		     : cfg_reader_text(r, path, text, len);
	mem_free(text);
	rc = cfg_dir_enter(dir, sys, NULL);
	return rc < 0 ? report_path(r->ctx.diag, path, "cannot change back behind", rc) : bad;
}

int
cfg_files_read(const struct cfg_files *fs, struct sys *sys, struct cfg_dir *dir,
	struct cfg_reader *r)
{
	int rc = 0;

	for (unsigned int i = 0; i < fs->npath; i++)
		if (read_one(sys, fs->path[i], dir, r))
			rc = -1;
	return rc;
}
