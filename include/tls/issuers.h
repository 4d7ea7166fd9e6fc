/*
 * Certificates that stand behind another one in a file. Thousands of files have the same few; each
 * is parsed once and shared. Main thread, while the configuration is read.
 */
#ifndef TACIT_TLS_ISSUERS_H
#define TACIT_TLS_ISSUERS_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"

struct x509_st;

struct tls_issuers {
	struct list all;
	struct name_index index; /* by digests */
};

void tls_issuers_init(struct tls_issuers *t);
/* Frees the set; certificates that were taken from it live on. */
void tls_issuers_fini(struct tls_issuers *t);
/* The certificate of this DER, with one reference. NULL: OpenSSL cannot parse it, or memory is
 * out. */
struct x509_st *tls_issuers_take(struct tls_issuers *t, const unsigned char *der, long len)
	must_check;

#endif
