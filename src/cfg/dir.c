/* The directory that relative names begin in. Main thread, while the configuration is read. */
#include "cfg/dir.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/sys.h"
#include "cfg/diag.h"

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

int
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
