/* Certificates as `show ssl cert` describes them. First worker. */
#ifndef TACIT_TLS_CERT_SHOW_H
#define TACIT_TLS_CERT_SHOW_H

#include "base/sbuf.h"
#include "tls/cert.h"
#include "tls/conn_info.h"
#include "tls/openssl.h"

struct tls_ca;
struct x509_st;

/* Lines about it, from "Serial:" on. */
void tls_cert_show(const struct tls_cert *c, struct sbuf *out);
/* The id of its OCSP response, if it has one; that of a transaction may not have been checked. */
void tls_cert_show_ocsp_key(const struct tls_cert *c, struct sbuf *out);
/* The i-th certificate of a file, or the i-th list, from the line with its number on. 0: there are
 * fewer. A list is shown as far as its revoked certificates. */
int tls_ca_show(const struct tls_ca *ca, int i, struct sbuf *out);
/* Lines of at most `max` revoked certificates of the i-th list, from number `from` on. Returns how
 * many there were. */
int tls_crl_show_revoked(const struct tls_ca *ca, int i, int from, int max, struct sbuf *out);

/* Each appends nothing if the certificate has none of it. */
void tls_cert_add_info(X509 *x, enum tls_cert_info what, struct sbuf *out);
void tls_chain_add(const STACK_OF(X509) *chain, struct sbuf *out);
void tls_name_add_info(const X509_NAME *name, const struct tls_dn_part *part, struct sbuf *out);

#endif
