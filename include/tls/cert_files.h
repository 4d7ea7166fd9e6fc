/*
 * Certificates in files: a PEM file and those beside it, `.key`, `.issuer`, `.ocsp` and `.sctl`.
 * Main thread, while the configuration is read.
 */
#ifndef TACIT_TLS_CERT_FILES_H
#define TACIT_TLS_CERT_FILES_H

#include "base/compiler.h"
#include "tls/cert.h"

/* True if a directory's file is a certificate of its own. */
typedef int tls_dir_filter(const char *name);

/* The files of a directory that hold certificates, sorted by bytes. */
struct tls_dir {
	char **path; /* from mem_alloc(), as each path */
	unsigned int n, cap;
};

struct sys;
struct tls_chains;
struct tls_issuers;

#define TLS_FILE_MAX (16u << 20) /* bytes of a file */

/* `ssl-load-extra-files`: which files beside a PEM file are read. */
enum {
	TLS_EXTRA_BUNDLE = 1,
	TLS_EXTRA_SCTL = 2,
	TLS_EXTRA_OCSP = 4,
	TLS_EXTRA_ISSUER = 8,
	TLS_EXTRA_KEY = 16,
	TLS_EXTRA_ALL = 31
};

/* The bases of files, and the files beside a certificate. */
struct tls_file_rules {
	char *crt_base, *ca_base, *key_base; /* NULL: none */
	unsigned int extra;
	struct tls_issuers *issuers;         /* that chains share; NULL: nothing */
	const struct tls_chains *chains;     /* for certificates without one; NULL: none */
	int del_ext;                         /* ssl-load-extra-del-ext */
	struct tls_passphrases *passphrases; /* while the configuration is read; else NULL */
};

/* The files of a certificate. */
enum tls_cert_file { TLS_CERT_CRT, TLS_CERT_KEY, TLS_CERT_ISSUER, TLS_CERT_OCSP, TLS_CERT_SCTL,
	TLS_CERT_FILES };

/* Their paths. Paths beside the first may be NULL: the file beside it is read if there is one. */
struct tls_cert_paths {
	char *of[TLS_CERT_FILES];
};

/* `base`/`path`, or path alone if it is absolute or base is NULL; from mem_alloc(). NULL when
 * memory is out. */
char *tls_path(const char *base, const char *path) must_check;
/* The same for a certificate; the name of one in a crt-store, "@...", is no path. */
char *tls_crt_path(const struct tls_file_rules *rules, const char *name) must_check;

/*
 * Reads a certificate. 0 and *out with one reference, or a negative reason with why (TLS_WHY_MAX).
 * Errors of stapled data that have no effect on the certificate are in warning
 * (TLS_WHY_MAX, "" if nothing).
 */
int tls_cert_read(struct sys *sys, const struct tls_file_rules *rules,
	const struct tls_cert_paths *paths, struct tls_cert **out, char *why, char *warning)
	must_check;

/* Not hidden, and not one of the files beside a certificate. */
int tls_is_cert_name(const char *name);
void tls_dir_free(struct tls_dir *d);

/* 0, or a negative reason with nothing in *out. */
int tls_dir_read(struct sys *sys, const char *dir, tls_dir_filter *is_wanted, struct tls_dir *out)
	must_check;

#endif
