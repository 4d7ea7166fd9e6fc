/* Finds and reads configuration files, through struct sys. Main thread. A failed file is
 * reported and the others are still read. */
#include "cfg/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/sys.h"
#include "cfg/diag.h"
#include "cfg/reader.h"

/* --- the directory that relative names begin in --- */

void
cfg_dir_fini(struct cfg_dir *d)
{
	for (unsigned int i = 0; i < d->n_of; i++)
		mem_free(d->of[i]);
	mem_free(d->of);
	mem_free(d->origin);
	mem_free(d->cwd);
	memset(d, 0, sizeof(*d));
}

/* Notes where the process was started, so that it can go back. */
static int
note_cwd(struct cfg_dir *d, struct sys *sys)
{
	char path[PATH_MAX];
	long n;

	if (d->cwd)
		return 0;
	n = sys_readlink(sys, "/proc/self/cwd", path, sizeof(path) - 1);
	if (n < 0)
		return (int)n;
	d->cwd = mem_strndup(path, (size_t)n);
	return d->cwd ? 0 : -ENOMEM;
}

/* The directory of the policy, absolute; NULL when memory is out. */
static char *
compose_dir(const struct cfg_dir *d)
{
	const char *path = d->path ? d->path : "";
	const char *slash = strrchr(path, '/');
	const char *given = d->policy == CFG_DIR_ORIGIN ? d->origin : path;
	size_t len = d->policy == CFG_DIR_ORIGIN ? strlen(d->origin)
		: slash				 ? (size_t)(slash - path) + 1
						 : 0;
	struct sbuf out;
	char *copy;

	sbuf_init(&out, 0);
	if (!len || given[0] != '/')
		sbuf_addf(&out, "%s/", d->cwd);
	sbuf_add(&out, given, len);
	if (d->policy == CFG_DIR_PARENT)
		sbuf_adds(&out, "/..");
	copy = out.failed ? NULL : mem_strdup(out.p);
	sbuf_fini(&out);
	return copy;
}

/* Makes room for the current file's directory. */
static int
grow_dirs(struct cfg_dir *d)
{
	unsigned int n = d->number + 1;
	char **of;

	if (n <= d->n_of)
		return 0;
	of = mem_resize(d->of, n, sizeof(*of));
	if (!of)
		return -ENOMEM;
	memset(of + d->n_of, 0, (n - d->n_of) * sizeof(*of));
	d->of = of;
	d->n_of = n;
	return 0;
}

/* Changes to the directory of the policy, which becomes that of the current file. */
static int
apply_policy(struct cfg_dir *d, struct sys *sys)
{
	char *dir = NULL;
	int r = note_cwd(d, sys);

	if (!r)
		r = grow_dirs(d);
	if (!r && d->policy != CFG_DIR_CURRENT) {
		dir = compose_dir(d);
		r = dir ? 0 : -ENOMEM;
	}
	if (!r)
		r = (int)sys_chdir(sys, dir ? dir : d->cwd);
	if (r < 0) {
		mem_free(dir);
		return r;
	}
	mem_free(d->of[d->number]);
	d->of[d->number] = dir;
	d->at = dir;
	return 0;
}

/* Begins a configuration file with this number (struct cfg_file), in the directory of the policy.
 * 0 or a negative reason. */
static int
cfg_dir_begin(struct cfg_dir *d, struct sys *sys, const char *path, unsigned int number)
{
	d->path = path;
	d->number = number;
	return d->policy == CFG_DIR_CURRENT ? 0 : apply_policy(d, sys);
}

int
cfg_dir_set(struct cfg_dir *d, struct sys *sys, enum cfg_dir_policy policy, const char *origin)
{
	char *copy = policy == CFG_DIR_ORIGIN ? mem_strdup(origin) : NULL;

	if (policy == CFG_DIR_ORIGIN && !copy)
		return -ENOMEM;
	mem_free(d->origin);
	d->origin = copy;
	d->policy = policy;
	return apply_policy(d, sys);
}

int
cfg_dir_enter(struct cfg_dir *d, struct sys *sys, const struct cfg_file *f)
{
	const char *dir = f && f->number < d->n_of ? d->of[f->number] : NULL;
	int r;

	if (!f)
		d->path = NULL;
	if (!d->cwd || dir == d->at)
		return 0;
	r = (int)sys_chdir(sys, dir ? dir : d->cwd);
	if (r >= 0)
		d->at = dir;
	return r < 0 ? r : 0;
}

enum {
	DIR_CHUNK = 32768,	/* bytes of directory entries asked for at once */
};

/* --- the list of files --- */

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
