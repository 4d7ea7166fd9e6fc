/*
 * The negotiated parameters of a TLS connection, and the certificates of both sides. On the
 * connection's worker.
 */
#ifndef TACIT_TLS_CONN_INFO_H
#define TACIT_TLS_CONN_INFO_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"
#include "net/xprt.h"
#include "tls/cert.h"
#include "tls/openssl.h"

struct conn;

struct tls_ca;
struct tls_entry;
struct tls_store;
struct x509_st;

/* --- certificates as `show ssl cert` describes them, on the first worker --- */

/* Lines about it, from "Serial:" on. */
void tls_cert_show(const struct tls_cert *c, struct sbuf *out);
/* The entry in use whose certificate ends first, and when, in seconds since 1970. NULL: there is
 * none. */
const struct tls_entry *tls_first_cert_end(const struct tls_store *s, int64_t *ends);
/* The id of its OCSP response, if it has one; that of a transaction may not have been checked. */
void tls_cert_show_ocsp_key(const struct tls_cert *c, struct sbuf *out);
/* The i-th certificate of a file, or the i-th list, from the line with its number on. 0: there are
 * fewer. A list is shown as far as its revoked certificates. */
int tls_ca_show(const struct tls_ca *ca, int i, struct sbuf *out);
/* Lines of at most `max` revoked certificates of the i-th list, from number `from` on. Returns how
 * many there were. */
int tls_crl_show_revoked(const struct tls_ca *ca, int i, int from, int max, struct sbuf *out);

enum tls_info {
	/* Texts and bytes. */
	TLS_INFO_VERSION,
	TLS_INFO_CIPHER,
	TLS_INFO_SERVER_NAME,
	TLS_INFO_ALPN,
	TLS_INFO_SESSION_ID,
	TLS_INFO_SESSION_KEY,
	TLS_INFO_CLIENT_RANDOM,
	TLS_INFO_SERVER_RANDOM,
	TLS_INFO_UNIQUE_ID,       /* the first Finished message */
	TLS_INFO_ERROR_TEXT,
	/* Numbers. */
	TLS_INFO_USE_KEYSIZE,     /* bits of the cipher's key that are secret */
	TLS_INFO_ALG_KEYSIZE,
	TLS_INFO_IS_RESUMED,
	TLS_INFO_HAS_CERT,        /* the peer has sent a certificate in this handshake */
	TLS_INFO_CERT_USED,       /* or in that of the session that was resumed */
	TLS_INFO_VERIFY,          /* X509_V_x */
	TLS_INFO_CRT_ERR,
	TLS_INFO_CA_ERR,
	TLS_INFO_CA_ERR_DEPTH,
	TLS_INFO_ERROR            /* OpenSSL's code of the first failure */
};

enum tls_cert_info {
	TLS_CERT_DER,
	TLS_CERT_CHAIN_DER,
	TLS_CERT_SERIAL,
	TLS_CERT_SHA1,
	TLS_CERT_SIG_ALG,
	TLS_CERT_KEY_ALG,
	TLS_CERT_KEY_TYPE,       /* with its size: RSA2048, EC256; none for other kinds */
	TLS_CERT_NOT_BEFORE,
	TLS_CERT_NOT_AFTER,
	TLS_CERT_VERSION         /* a number, in decimal */
};

enum tls_owner { TLS_OF_PEER, TLS_OWN };

/* A part of a distinguished name; entry.len 0: all of it. */
struct tls_dn_part {
	struct str entry;  /* in any case, but digits */
	int64_t nth;       /* 1: the first, -1: the last */
	int is_rfc2253;    /* of the whole name: as in LDAP */
};

/* True if the connection uses TLS. */
int tls_is_used(const struct conn *c);
/* 0, or -ERR_UNKNOWN: no TLS, or it has none of this. */
int tls_info_text(const struct conn *c, enum tls_info what, struct sbuf *out) must_check;
int tls_info_number(const struct conn *c, enum tls_info what, int64_t *out) must_check;
int tls_info_cert(const struct conn *c, enum tls_owner owner, enum tls_cert_info what,
	struct sbuf *out) must_check;
/* Prints the name of the certificate's subject, or its issuer. */
int tls_info_name(const struct conn *c, enum tls_owner owner, int is_issuer,
	const struct tls_dn_part *part, struct sbuf *out) must_check;

/* The query of struct xprt_ops. */
int tls_query(const struct conn *c, enum xprt_query what, struct str *out);

#endif
