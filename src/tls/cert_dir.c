/* Directories of certificates. Main thread, while the configuration is read. */
#include "tls/cert_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/cert_files.h"

#define DIR_CHUNK 32768 /* bytes of directory entries asked for at once */

int
tls_is_cert_name(const char *name)
{
	static const char *const reserved[] = { ".key", ".issuer", ".ocsp", ".sctl" };
	size_t n = strlen(name);

	if (name[0] == '.')
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
		size_t e = strlen(reserved[i]);

		if (n >= e && strcmp(name + n - e, reserved[i]) == 0)
			return 0;
	}
	return 1;
}

static int
append_file(struct tls_dir *d, char *path)
{
	char **grown = array_grow(d->path, d->n, &d->cap, sizeof(*grown));

	if (!grown)
		return -ERR_NOMEM;
	d->path = grown;
	d->path[d->n++] = path;
	return 0;
}

static int
take_dir_entry(struct sys *sys, const char *dir, const char *name, struct tls_dir *out)
{
	char *path = tls_path(dir, name);
	struct stat st;
	int r = path ? 0 : -ERR_NOMEM;

	if (!r && sys_stat(sys, path, &st) >= 0 && S_ISREG(st.st_mode)) {
		r = append_file(out, path);
		if (!r)
			return 0;
	}
	mem_free(path);
	return r;
}

static int
compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
read_entries(struct sys *sys, int fd, char *buf, const char *dir, tls_dir_filter *is_wanted,
	struct tls_dir *out)
{
	long n;
	int r = 0;

	while (!r && (n = sys_getdents64(sys, fd, buf, DIR_CHUNK)) != 0) {
		if (n < 0)
			return (int)n;
		for (long at = 0; at < n && !r;) {
			const struct dirent64 *e = (const void *)(buf + at);

			at += e->d_reclen;
			if (is_wanted(e->d_name))
				r = take_dir_entry(sys, dir, e->d_name, out);
		}
	}
	return r;
}

int
tls_dir_read(struct sys *sys, const char *dir, tls_dir_filter *is_wanted, struct tls_dir *out)
{
	char *buf = mem_alloc(DIR_CHUNK);
	long fd;
	int r;

	memset(out, 0, sizeof(*out));
	if (!buf)
		return -ERR_NOMEM;
	fd = sys_openat(sys, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	r = (int)fd;
	if (fd >= 0) {
		r = read_entries(sys, (int)fd, buf, dir, is_wanted, out);
		(void)sys_close(sys, (int)fd);
	}
	mem_free(buf);
	if (r < 0)
		tls_dir_free(out);
	else if (out->n)
		qsort(out->path, out->n, sizeof(*out->path), compare_paths);
	return r < 0 ? r : 0;
}

void
tls_dir_free(struct tls_dir *d)
{
	for (unsigned int i = 0; i < d->n; i++)
		mem_free(d->path[i]);
	mem_free(d->path);
	memset(d, 0, sizeof(*d));
}
