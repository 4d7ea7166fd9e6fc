/*
 * Chains that certificates without one in their own file get: the files of `issuers-chain-path`.
 * Read on the main thread when the configuration is known; fixed from then on.
 */
#ifndef TACIT_TLS_CHAINS_H
#define TACIT_TLS_CHAINS_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"

struct asn1_string_st;
struct stack_st_X509;
struct sys;
struct x509_st;

/* A file: the first certificate and those that follow it. */
struct tls_chain {
	struct list link; /* in tls_chains.all */
	char *path;
	struct stack_st_X509 *certs;
};

struct tls_chains {
	char *dir;              /* issuers-chain-path; NULL: none */
	struct cfg_where where; /* of that line */
	int skip_self_issued;   /* ssl-skip-self-issued-ca: these are not sent */
	struct list all;        /* by the bytes of their paths */
};

void tls_chains_init(struct tls_chains *t);
void tls_chains_fini(struct tls_chains *t);
/* Removes all chains, and takes another one, whose certificates it then owns: 0 or -ERR_NOMEM. */
void tls_chains_clear(struct tls_chains *t);
int tls_chains_add(struct tls_chains *t, const char *path, struct stack_st_X509 *certs) must_check;
/* The chain whose first certificate has this Subject Key Identifier; NULL: none. */
const struct tls_chain *tls_chains_find_key(const struct tls_chains *t,
	const struct asn1_string_st *id);
/* The chain whose first certificate has issued this one and is named by its Authority Key
 * Identifier. NULL: none, as for a certificate that has issued itself. */
const struct tls_chain *tls_chains_find(const struct tls_chains *t, struct x509_st *leaf);

#endif
