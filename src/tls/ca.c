/* Trusted certificates and revocation lists. Main thread, or the first worker while the others
 * stand still; an X509_STORE is shared by the workers and has a lock of its own. */
#include "tls/ca.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/cert_dir.h"
#include "tls/cert_files.h"
#include "tls/openssl.h"
#include "tls/tls_error.h"

void
tls_ca_files_init(struct tls_ca_files *f)
{
	list_init(&f->all);
}

static void
free_stacks(struct tls_ca *ca)
{
	sk_X509_pop_free(ca->certs, X509_free);
	sk_X509_CRL_pop_free(ca->crls, X509_CRL_free);
}

static void
free_ca(struct tls_ca *ca)
{
	list_remove(&ca->link);
	free_stacks(ca);
	mem_free(ca->name);
	mem_free(ca);
}

void
tls_ca_files_fini(struct tls_ca_files *f)
{
	list_each_safe(it, &f->all)
		free_ca(list_entry(it, struct tls_ca, link));
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

static int
check_usable(const struct tls_ca *ca, char *why)
{
	if (ca->kind == TLS_CA_FILE ? sk_X509_num(ca->certs) > 0 : sk_X509_CRL_num(ca->crls) > 0)
		return 1;
	(void)snprintf(why, TLS_WHY_MAX, "there is no %s",
		ca->kind == TLS_CA_FILE ? "certificate" : "certificate revocation list");
	return 0;
}

int
tls_ca_parse(struct tls_ca *ca, const char *text, size_t len, char *why)
{
	struct tls_ca made = { .kind = ca->kind };
	int r;

	made.certs = sk_X509_new_null();
	made.crls = sk_X509_CRL_new_null();
	r = made.certs && made.crls ? add_ca_text(&made, text, len, why) : -ERR_NOMEM;
	if (r == -ERR_NOMEM)
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (!r && !check_usable(&made, why))
		r = -ERR_MISSING;
	if (r) {
		free_stacks(&made);
		return r;
	}
	free_stacks(ca);
	ca->certs = made.certs;
	ca->crls = made.crls;
	return 0;
}

static int
read_ca_file(struct tls_ca *ca, struct sys *sys, const char *path, char *why)
{
	char *text, said[TLS_WHY_MAX] = "";
	size_t len;
	long r = file_read(sys, path, TLS_FILE_MAX, &text, &len);

	if (r < 0) {
		(void)snprintf(why, TLS_WHY_MAX, "unable to load file '%.300s': %s", path,
			err_text((int)r));
		return (int)r;
	}
	r = add_ca_text(ca, text, len, said);
	mem_free(text);
	if (r)
		(void)snprintf(
			why, TLS_WHY_MAX, "unable to load file '%.250s': %.200s", path, said);
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

static struct tls_ca *
make_ca(enum tls_ca_kind kind, const char *path)
{
	struct tls_ca *ca = mem_zalloc(sizeof(*ca));

	if (!ca)
		return NULL;
	list_init(&ca->link);
	ca->kind = kind;
	ca->name = mem_strdup(path);
	ca->certs = sk_X509_new_null();
	ca->crls = sk_X509_CRL_new_null();
	if (ca->name && ca->certs && ca->crls)
		return ca;
	free_ca(ca);
	return NULL;
}

int
tls_ca_load(struct tls_ca_files *f, struct sys *sys, enum tls_ca_kind kind, const char *path,
	struct tls_ca **out, char *why)
{
	struct tls_ca *ca = tls_ca_find(f, kind, path);
	char said[TLS_WHY_MAX];
	int r;

	*out = ca;
	if (ca)
		return 0;
	ca = make_ca(kind, path);
	r = ca ? read_ca(ca, sys, path, why) : -ERR_NOMEM;
	if (!r && !check_usable(ca, said)) {
		(void)snprintf(
			why, TLS_WHY_MAX, "unable to load file '%.250s': %.200s", path, said);
		r = -ERR_MISSING;
	}
	if (r == -ERR_NOMEM)
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (r && ca)
		free_ca(ca);
	if (r)
		return r;
	list_append(&f->all, &ca->link);
	*out = ca;
	return 0;
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
