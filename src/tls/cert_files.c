/* A certificate's PEM file with the files beside it. Main thread, while the configuration is read;
 * text that held a key is cleansed. */
#include "tls/cert_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/openssl.h"

/* --- directories ----------------------------------------------------------------------------- */

/* Directories of certificates. Main thread, while the configuration is read. */

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

/* --- files ----------------------------------------------------------------------------------- */

char *
tls_path(const char *base, const char *path)
{
	size_t b = base ? strlen(base) : 0, n = strlen(path);
	char *p;

	if (!b || path[0] == '/')
		return mem_strdup(path);
	p = mem_alloc(b + n + 2);
	if (!p)
		return NULL;
	memcpy(p, base, b);
	if (base[b - 1] != '/')
		p[b++] = '/';
	memcpy(p + b, path, n + 1);
	return p;
}

char *
tls_crt_path(const struct tls_file_rules *rules, const char *name)
{
	return tls_path(name[0] == '@' ? NULL : rules->crt_base, name);
}

/* "foobar.crt" and ".key": "foobar.crt.key", or "foobar.key". */
static char *
side_path(const struct tls_file_rules *rules, const char *path, const char *ext)
{
	size_t n = strlen(path), e = strlen(ext);
	char *p;

	if (rules->del_ext && n > 4 && strcmp(path + n - 4, ".crt") == 0)
		n -= 4;
	p = mem_alloc(n + e + 1);
	if (!p)
		return NULL;
	memcpy(p, path, n);
	memcpy(p + n, ext, e + 1);
	return p;
}

static int
cert_nomem(char *why)
{
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	return -ERR_NOMEM;
}

typedef int add_fn(struct tls_cert *c, const char *text, size_t len, char *why);

static int
add_cert_file(struct sys *sys, const char *path, struct tls_cert *c, add_fn *add, char *why)
{
	char *text, reason[TLS_WHY_MAX];
	size_t len;
	long r = file_read(sys, path, TLS_FILE_MAX, &text, &len);

	if (c->passphrases)
		c->passphrases->path = path;
	if (r < 0) {
		(void)snprintf(why, TLS_WHY_MAX,
			"unable to stat SSL certificate from file '%.300s' : %s", path,
			err_text((int)r));
		return (int)r;
	}
	r = add(c, text, len, reason);
	OPENSSL_cleanse(text, len);
	mem_free(text);
	if (r)
		(void)snprintf(why, TLS_WHY_MAX,
			"unable to load SSL certificate from file '%.250s': %.200s", path, reason);
	return (int)r;
}

static int
add_sctl(struct tls_cert *c, const char *text, size_t len, char *why)
{
	return tls_cert_add_sctl(c, text, len, why);
}

static int
add_ocsp(struct tls_cert *c, const char *text, size_t len, char *why)
{
	return tls_cert_add_ocsp(c, text, len, why);
}

/* The file that is named, or one beside the certificate's if these are read. 1: there is none. */
static int
add_side_file(struct sys *sys, const struct tls_file_rules *rules,
	const struct tls_cert_paths *paths, enum tls_cert_file file, struct tls_cert *c, char *why)
{
	static const struct {
		const char *ext;
		unsigned int extra;
		add_fn *add;
	} files[TLS_CERT_FILES] = {
		[TLS_CERT_KEY] = { ".key", TLS_EXTRA_KEY, tls_cert_add_key },
		[TLS_CERT_ISSUER] = { ".issuer", TLS_EXTRA_ISSUER, tls_cert_add_issuer },
		[TLS_CERT_OCSP] = { ".ocsp", TLS_EXTRA_OCSP, add_ocsp },
		[TLS_CERT_SCTL] = { ".sctl", TLS_EXTRA_SCTL, add_sctl },
	};
	char *side;
	int r;

	if (paths->of[file])
		return add_cert_file(sys, paths->of[file], c, files[file].add, why);
	if (!(rules->extra & files[file].extra))
		return 1;
	side = side_path(rules, paths->of[TLS_CERT_CRT], files[file].ext);
	if (!side)
		return cert_nomem(why);
	r = add_cert_file(sys, side, c, files[file].add, why);
	mem_free(side);
	return r == -ENOENT ? 1 : r;
}

/* In HAProxy's words. */
static int
check_ocsp(const struct tls_cert_paths *paths, struct tls_cert *c, char *why)
{
	const char *own = paths->of[TLS_CERT_OCSP];
	const char *path = own ? own : paths->of[TLS_CERT_CRT], *ext = own ? "" : ".ocsp";
	char reason[TLS_WHY_MAX];
	int r = tls_cert_check_ocsp(c, reason);

	if (r == -ERR_MISSING)
		(void)snprintf(why, TLS_WHY_MAX,
			"'%.200s%s' is present and activates OCSP but it is impossible to "
			"compute the OCSP certificate ID: %.200s",
			path, ext, reason);
	else if (r)
		(void)snprintf(why, TLS_WHY_MAX,
			"'%.200s%s': %.250s. Content will be ignored", path, ext, reason);
	return r;
}

/* A response that cannot be used is left out, as in HAProxy. */
static int
read_ocsp(struct sys *sys, const struct tls_file_rules *rules, const struct tls_cert_paths *paths,
	struct tls_cert *c, char *why, char *warning)
{
	int r;

	if ((paths->of[TLS_CERT_ISSUER] || !c->issuer) &&
		add_side_file(sys, rules, paths, TLS_CERT_ISSUER, c, why) < 0)
		return -ERR_INVAL;
	r = add_side_file(sys, rules, paths, TLS_CERT_OCSP, c, why);
	if (r == 0)
		r = check_ocsp(paths, c, why);
	if (r < 0 && c->ocsp_id) {
		memcpy(warning, why, TLS_WHY_MAX);
		return 0;
	}
	return r < 0 ? r : 0;
}

static int
read_all(struct sys *sys, const struct tls_file_rules *rules, const struct tls_cert_paths *paths,
	struct tls_cert *c, char *why, char *warning)
{
	const char *path = paths->of[TLS_CERT_CRT];
	char reason[TLS_WHY_MAX];
	int r = add_cert_file(sys, path, c, tls_cert_add_pem, why);

	if (r)
		return r;
	if ((paths->of[TLS_CERT_KEY] || !c->key) &&
		add_side_file(sys, rules, paths, TLS_CERT_KEY, c, why) < 0)
		return -ERR_INVAL;
	r = tls_cert_complete(c, reason);
	if (r) {
		(void)snprintf(why, TLS_WHY_MAX,
			"unable to load SSL certificate from file '%.250s': %.200s", path, reason);
		return r;
	}
	if (add_side_file(sys, rules, paths, TLS_CERT_SCTL, c, why) < 0)
		return -ERR_INVAL;
	return read_ocsp(sys, rules, paths, c, why, warning);
}

int
tls_cert_read(struct sys *sys, const struct tls_file_rules *rules,
	const struct tls_cert_paths *paths, struct tls_cert **out, char *why, char *warning)
{
	struct tls_cert *c = tls_cert_new();
	int r;

	*out = NULL;
	warning[0] = '\0';
	if (!c)
		return cert_nomem(why);
	c->issuers = rules->issuers;
	c->chains = rules->chains;
	c->passphrases = rules->passphrases;
	r = read_all(sys, rules, paths, c, why, warning);
	c->issuers = NULL;
	c->passphrases = NULL;
	if (r)
		tls_cert_put(c);
	else
		*out = c;
	return r;
}
