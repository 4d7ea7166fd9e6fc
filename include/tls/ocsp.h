/*
 * OCSP responses (RFC 6960), which handshakes staple to a certificate (RFC 6066, 8). A certificate
 * is known by its id there: digests of the issuer's name and key, and the serial number.
 *
 * Main thread, or the first worker while the others are paused; other workers only read.
 */
#ifndef TACIT_TLS_OCSP_H
#define TACIT_TLS_OCSP_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/* Seconds that the clock of a responder may differ from ours. */
#define TLS_OCSP_SKEW_S 300

/* Types of OpenSSL. */
struct ocsp_cert_id_st;

/* A response that was checked. It does not change. */
struct tls_ocsp {
	unsigned int refs;
	int64_t expires;          /* seconds since the epoch: it is not stapled later */
	size_t len;
	unsigned char p[];        /* DER */
};

/*
 * Checks what can be checked of a response in DER by itself, as HAProxy does: there is one single
 * response, with a status that is known, and it is valid now. Bytes behind it are left out. NULL
 * with why (TLS_WHY_MAX); otherwise one reference, and *about, which the caller frees with
 * tls_ocsp_id_free(), is the certificate's id. The signature is for clients to verify.
 */
struct tls_ocsp *tls_ocsp_read(const void *der, size_t len, struct ocsp_cert_id_st **about,
	char *why) must_check;
/* True if it is a response at all, of any status. */
int tls_is_ocsp(const void *der, size_t len);
struct tls_ocsp *tls_ocsp_ref(struct tls_ocsp *o);
/* NULL is allowed. */
void tls_ocsp_put(struct tls_ocsp *o);
void tls_ocsp_id_free(struct ocsp_cert_id_st *id);

/* The id in DER, as hexadecimal digits: what commands call the certificate's key. */
void tls_ocsp_id_hex(const struct ocsp_cert_id_st *id, struct sbuf *out);
/* A response in words, as `openssl ocsp -text`; no line is empty. DER that is none: nothing. */
void tls_ocsp_show(const void *der, size_t len, struct sbuf *out);
/* In base64, in one line. */
void tls_ocsp_show_base64(const void *der, size_t len, struct sbuf *out);

#endif
