/* OCSP responses of all certificates that bind lines use. First worker. */
#ifndef TACIT_TLS_OCSP_STORE_H
#define TACIT_TLS_OCSP_STORE_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "tls/ocsp.h"
#include "tls/store.h"

/* The id of a certificate. */
struct tls_ocsp_key {
	char *hex;                     /* its DER in hexadecimal digits */
	struct ocsp_cert_id_st *id;
};

struct tls_ocsp_keys {
	struct tls_ocsp_key *key;
	size_t n;
};

/* Copies of the ids of all certificates that have a response or may get one, each once and in the
 * order of their DER. 0 or -ERR_NOMEM. */
int tls_ocsp_keys(const struct tls_store *s, struct tls_ocsp_keys *out) must_check;
void tls_ocsp_keys_free(struct tls_ocsp_keys *k);
/* One of them as `show ssl ocsp-response` lists it. */
void tls_ocsp_key_show(const struct tls_ocsp_key *k, struct sbuf *out);
/* The certificate with this id. NULL: there is none. */
const struct tls_cert *tls_ocsp_find(const struct tls_store *s, const char *hex);

/* Certificates that a response is about: several files may have the same one. */
struct tls_ocsp_users {
	struct tls_cert **cert;
	size_t n;
};

/* Finds the certificates with the id; that of a transaction follows them, unless it has a response
 * of its own. 0 or -ERR_NOMEM. */
int tls_ocsp_users(const struct tls_store *s, const struct ocsp_cert_id_st *id,
	struct tls_ocsp_users *out) must_check;
/* Gives all of them the response, while the other workers are paused. */
void tls_ocsp_users_set(const struct tls_ocsp_users *u, struct tls_ocsp *o);
void tls_ocsp_users_free(struct tls_ocsp_users *u);

#endif
