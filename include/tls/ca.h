/*
 * Files of trusted certificates and of revocation lists, each parsed once, and the X509_STOREs that
 * are made of them. Main thread, or the first worker while the others stand still.
 */
#ifndef TACIT_TLS_CA_H
#define TACIT_TLS_CA_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/list.h"
#include "tls/cert.h"

struct stack_st_X509;
struct stack_st_X509_CRL;
struct sys;
struct tls_settings;
struct x509_store_st;

#define TLS_SYSTEM_CA "@system-ca"

enum tls_ca_kind { TLS_CA_FILE, TLS_CRL_FILE };

/* One file or directory, by its path. It is never freed before the store. */
struct tls_ca {
	struct list link;
	char *name;
	enum tls_ca_kind kind;
	struct stack_st_X509 *certs;
	struct stack_st_X509_CRL *crls;
};

struct tls_ca_files {
	struct list all;
};

void tls_ca_files_init(struct tls_ca_files *f);
void tls_ca_files_fini(struct tls_ca_files *f);
/* NULL: unknown. */
struct tls_ca *tls_ca_find(const struct tls_ca_files *f, enum tls_ca_kind kind, const char *name);
/* The file of this path, which is read if it is new; TLS_SYSTEM_CA: those that the system trusts.
 * 0, or a negative reason with why (TLS_WHY_MAX). */
int tls_ca_load(struct tls_ca_files *f, struct sys *sys, enum tls_ca_kind kind, const char *path,
	struct tls_ca **out, char *why) must_check;
/* The same from text, which replaces what the file said. */
int tls_ca_parse(struct tls_ca *ca, const char *text, size_t len, char *why) must_check;

/* What certificates of peers are verified with: those of up to two files (NULL: none) and the
 * lists of another. The caller owns a reference. NULL when memory is out. */
struct x509_store_st *tls_ca_make_store(const struct tls_ca *a, const struct tls_ca *b,
	const struct tls_ca *crl) must_check;

#endif
