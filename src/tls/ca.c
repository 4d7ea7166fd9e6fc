/* Trusted certificates and revocation lists. Main thread, or the first worker while the others
 * are paused; an X509_STORE is shared by the workers and has a lock of its own. */
#include "tls/ca.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/cert_files.h"
#include "tls/openssl.h"
#include "tls/cert.h"

void
tls_ca_free(struct tls_ca *ca)
{
	if (!ca)
		return;
	list_remove(&ca->link);
	sk_X509_pop_free(ca->certs, X509_free);
	sk_X509_CRL_pop_free(ca->crls, X509_CRL_free);
	mem_free(ca->name);
	mem_free(ca);
}

struct tls_ca *
tls_ca_find(const struct tls_ca_files *f, enum tls_ca_kind kind, const char *name)
{
	list_each(it, &f->all) {
		struct tls_ca *ca = list_entry(it, struct tls_ca, link);

		if (ca->kind == kind && strcmp(ca->name, name) == 0)
			return ca;
	}
	return NULL;
}

/* Certificates and lists go to the stacks, keys are skipped. */
static int
take_infos(STACK_OF(X509_INFO) *infos, STACK_OF(X509) *certs, STACK_OF(X509_CRL) *crls)
{
	for (int i = 0; i < sk_X509_INFO_num(infos); i++) {
		X509_INFO *info = sk_X509_INFO_value(infos, i);

		if (info->x509) {
			/* OpenSSL keeps what it finds in extensions beside the certificate: it is
			 * found here, before workers verify with it. */
			(void)X509_check_purpose(info->x509, -1, 0);
			if (sk_X509_push(certs, info->x509) <= 0)
				return -ERR_NOMEM;
			info->x509 = NULL;
		}
		if (info->crl) {
			if (sk_X509_CRL_push(crls, info->crl) <= 0)
				return -ERR_NOMEM;
			info->crl = NULL;
		}
	}
	return 0;
}

static int
add_ca_text(struct tls_ca *ca, const char *text, size_t len, char *why)
{
	BIO *bio = len <= INT32_MAX ? BIO_new_mem_buf(text, (int)len) : NULL;
	STACK_OF(X509_INFO) *infos = bio ? PEM_X509_INFO_read_bio(bio, NULL, NULL, NULL) : NULL;
	char reason[TLS_ERROR_MAX];
	int r = infos ? 0 : -ERR_SYNTAX;

	BIO_free(bio);
	if (r)
		(void)snprintf(why, TLS_WHY_MAX, "%s", tls_error_take(reason, sizeof(reason)));
	else
		r = take_infos(infos, ca->certs, ca->crls);
	sk_X509_INFO_pop_free(infos, X509_INFO_free);
	ERR_clear_error();
	return r;
}

int
tls_ca_count(const struct tls_ca *ca)
{
	return ca->kind == TLS_CA_FILE ? sk_X509_num(ca->certs) : sk_X509_CRL_num(ca->crls);
}

static int
check_usable(const struct tls_ca *ca, char *why)
{
	if (tls_ca_count(ca) > 0)
		return 1;
	(void)snprintf(why, TLS_WHY_MAX, "there is no %s",
		ca->kind == TLS_CA_FILE ? "certificate" : "certificate revocation list");
	return 0;
}

int
tls_ca_add(struct tls_ca *ca, const char *text, size_t len, char *why)
{
	int r = add_ca_text(ca, text, len, why);

	return r ? r : check_usable(ca, why) ? 0 : -ERR_MISSING;
}

static int
read_ca_file(struct tls_ca *ca, struct sys *sys, const char *path, char *why)
{
	char *text, reason[TLS_WHY_MAX] = "";
	size_t len;
	long r = file_read(sys, path, TLS_FILE_MAX, &text, &len);

	if (r < 0) {
		(void)snprintf(why, TLS_WHY_MAX, "unable to load file '%.300s': %s", path,
			err_text((int)r));
		return (int)r;
	}
	r = add_ca_text(ca, text, len, reason);
	mem_free(text);
	if (r)
		(void)snprintf(
			why, TLS_WHY_MAX, "unable to load file '%.250s': %.200s", path, reason);
	return (int)r;
}

static int
is_ca_name(const char *name)
{
	static const char *const ends[] = { ".pem", ".crt", ".cer", ".crl" };
	size_t n = strlen(name);

	for (size_t i = 0; name[0] != '.' && i < ARRAY_LEN(ends); i++)
		if (n > 4 && strcmp(name + n - 4, ends[i]) == 0)
			return 1;
	return 0;
}

static int
read_ca_directory(struct tls_ca *ca, struct sys *sys, const char *path, char *why)
{
	struct tls_dir d;
	int r = tls_dir_read(sys, path, is_ca_name, &d);

	if (r) {
		(void)snprintf(why, TLS_WHY_MAX, "unable to read directory '%.300s': %s", path,
			err_text(r));
		return r;
	}
	for (unsigned int i = 0; i < d.n && !r; i++)
		r = read_ca_file(ca, sys, d.path[i], why);
	tls_dir_free(&d);
	return r;
}

/* Debian's bundle, or the directory that OpenSSL was built for. */
static int
read_system(struct tls_ca *ca, struct sys *sys, char *why)
{
	static const char bundle[] = "/etc/ssl/certs/ca-certificates.crt";
	struct stat st;

	if (sys_stat(sys, bundle, &st) >= 0)
		return read_ca_file(ca, sys, bundle, why);
	if (sys_stat(sys, X509_get_default_cert_file(), &st) >= 0)
		return read_ca_file(ca, sys, X509_get_default_cert_file(), why);
	return read_ca_directory(ca, sys, X509_get_default_cert_dir(), why);
}

static int
read_ca(struct tls_ca *ca, struct sys *sys, const char *path, char *why)
{
	struct stat st;

	if (strcmp(path, TLS_SYSTEM_CA) == 0)
		return read_system(ca, sys, why);
	if (sys_stat(sys, path, &st) >= 0 && S_ISDIR(st.st_mode))
		return read_ca_directory(ca, sys, path, why);
	return read_ca_file(ca, sys, path, why);
}

struct tls_ca *
tls_ca_new(enum tls_ca_kind kind, const char *name)
{
	struct tls_ca *ca = mem_zalloc(sizeof(*ca));

	if (!ca)
		return NULL;
	list_init(&ca->link);
	ca->kind = kind;
	ca->name = mem_strdup(name);
	ca->certs = sk_X509_new_null();
	ca->crls = sk_X509_CRL_new_null();
	if (ca->name && ca->certs && ca->crls)
		return ca;
	tls_ca_free(ca);
	return NULL;
}

void
tls_ca_insert(struct tls_ca_files *f, struct tls_ca *ca)
{
	struct list *at = f->all.prev;

	while (at != &f->all && strcmp(list_entry(at, struct tls_ca, link)->name, ca->name) > 0)
		at = at->prev;
	list_append(at->next, &ca->link);
}

static X509 *
copy_cert(const X509 *x)
{
	X509 *same = (X509 *)(uintptr_t)x;

	return X509_up_ref(same) ? same : NULL;
}

static X509_CRL *
copy_crl(const X509_CRL *x)
{
	X509_CRL *same = (X509_CRL *)(uintptr_t)x;

	return X509_CRL_up_ref(same) ? same : NULL;
}

struct tls_ca *
tls_ca_copy(const struct tls_ca *ca)
{
	struct tls_ca *copy = tls_ca_new(ca->kind, ca->name);

	if (!copy)
		return NULL;
	sk_X509_free(copy->certs);
	sk_X509_CRL_free(copy->crls);
	copy->uses = ca->uses;
	copy->certs = sk_X509_deep_copy(ca->certs, copy_cert, X509_free);
	copy->crls = sk_X509_CRL_deep_copy(ca->crls, copy_crl, X509_CRL_free);
	if (copy->certs && copy->crls)
		return copy;
	tls_ca_free(copy);
	return NULL;
}

void
tls_ca_exchange(struct tls_ca *a, struct tls_ca *b)
{
	struct tls_ca was = *a;

	a->certs = b->certs;
	a->crls = b->crls;
	b->certs = was.certs;
	b->crls = was.crls;
}

static int
read_new_ca(struct sys *sys, enum tls_ca_kind kind, const char *path, struct tls_ca **out,
	char *why)
{
	struct tls_ca *ca = tls_ca_new(kind, path);
	char reason[TLS_WHY_MAX];
	int r = ca ? read_ca(ca, sys, path, why) : -ERR_NOMEM;

	if (!r && !check_usable(ca, reason)) {
		(void)snprintf(
			why, TLS_WHY_MAX, "unable to load file '%.250s': %.200s", path, reason);
		r = -ERR_MISSING;
	}
	if (r == -ERR_NOMEM)
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (r)
		tls_ca_free(ca);
	else
		*out = ca;
	return r;
}

int
tls_ca_load(struct tls_ca_files *f, struct sys *sys, enum tls_ca_kind kind, const char *path,
	struct tls_ca **out, char *why)
{
	struct tls_ca *ca = tls_ca_find(f, kind, path);

	*out = NULL;
	if (!ca) {
		int r = sys ? read_new_ca(sys, kind, path, &ca, why) : -ERR_MISSING;

		if (!sys)
			(void)snprintf(why, TLS_WHY_MAX, "unable to load %.300s", path);
		if (r)
			return r;
		tls_ca_insert(f, ca);
	}
	ca->uses++;
	*out = ca;
	return 0;
}

void
tls_ca_drop(struct tls_ca *ca)
{
	if (ca)
		ca->uses--;
}

/* A certificate may be in both files. */
static int
add_to_store(X509_STORE *store, const struct tls_ca *ca)
{
	for (int i = 0; ca && i < sk_X509_num(ca->certs); i++)
		if (!X509_STORE_add_cert(store, sk_X509_value(ca->certs, i)))
			return -ERR_NOMEM;
	for (int i = 0; ca && i < sk_X509_CRL_num(ca->crls); i++)
		if (!X509_STORE_add_crl(store, sk_X509_CRL_value(ca->crls, i)))
			return -ERR_NOMEM;
	return 0;
}

X509_STORE *
tls_ca_make_store(const struct tls_ca *a, const struct tls_ca *b, const struct tls_ca *crl)
{
	X509_STORE *store = X509_STORE_new();

	if (!store)
		return NULL;
	if (add_to_store(store, a) < 0 || add_to_store(store, b) < 0 ||
		add_to_store(store, crl) < 0) {
		X509_STORE_free(store);
		return NULL;
	}
	if (crl)
		X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	return store;
}
