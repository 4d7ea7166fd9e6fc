/*
 * Files of trusted certificates and of revocation lists, each parsed once, and the X509_STOREs
 * that are made of them. Main thread, or the first worker while the others are paused.
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

enum tls_ca_kind { TLS_CA_FILE, TLS_CRL_FILE, TLS_CA_KINDS };

/* One file or directory, by its path. */
struct tls_ca {
	struct list link;         /* in tls_ca_files.all */
	char *name;
	enum tls_ca_kind kind;
	unsigned int uses;        /* bind lines and servers that name it: it cannot be removed */
	struct stack_st_X509 *certs;
	struct stack_st_X509_CRL *crls;
};

/* A transaction of `set ssl ca-file` or `set ssl crl-file`. */
struct tls_ca_change {
	struct tls_ca *file;      /* NULL: there is none */
	struct tls_ca *made;      /* what it is to become; owned */
};

struct tls_ca_files {
	struct list all;          /* in the order of names */
	struct tls_ca_change change[TLS_CA_KINDS];
};

/* NULL: unknown. */
struct tls_ca *tls_ca_find(const struct tls_ca_files *f, enum tls_ca_kind kind, const char *name);
/* The file of this path, which is read if it is new and has one use more; TLS_SYSTEM_CA: those that
 * the system trusts. 0, or a negative reason with why (TLS_WHY_MAX). */
int tls_ca_load(struct tls_ca_files *f, struct sys *sys, enum tls_ca_kind kind, const char *path,
	struct tls_ca **out, char *why) must_check;
/* One use of it ends. NULL is allowed. */
void tls_ca_drop(struct tls_ca *ca);

/* An empty one, which is in no list, or NULL. */
struct tls_ca *tls_ca_new(enum tls_ca_kind kind, const char *name) must_check;
/* One that is in no list, or was taken from it. NULL is allowed. */
void tls_ca_free(struct tls_ca *ca);
/* In the order of names; f owns it from now on. */
void tls_ca_insert(struct tls_ca_files *f, struct tls_ca *ca);
/* A copy in no list, which shares certificates and lists, or NULL. */
struct tls_ca *tls_ca_copy(const struct tls_ca *ca) must_check;
/* Adds the contents of PEM text; it must have something of the kind. 0, or a negative reason with
 * why and perhaps a part of it. */
int tls_ca_add(struct tls_ca *ca, const char *text, size_t len, char *why) must_check;
/* Number of certificates, or of lists; 0 after `new ssl ca-file`. */
int tls_ca_count(const struct tls_ca *ca);
/* Each has what the other had. */
void tls_ca_exchange(struct tls_ca *a, struct tls_ca *b);

/* A store that verifies certificates of peers: with those of up to two files (NULL: none) and the
 * lists of another. The caller owns a reference. NULL when memory is out. */
struct x509_store_st *tls_ca_make_store(const struct tls_ca *a, const struct tls_ca *b,
	const struct tls_ca *crl) must_check;

#endif
