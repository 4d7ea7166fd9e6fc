/* Parts of certificates as HAProxy's fetches show them. Any thread. */
#ifndef TACIT_TLS_TLS_CERT_INFO_H
#define TACIT_TLS_TLS_CERT_INFO_H

#include "tls/conn_info.h"
#include "tls/openssl.h"

/* Each appends nothing if the certificate has none of it. */
void tls_cert_add_info(X509 *x, enum tls_cert_info what, struct sbuf *out);
void tls_chain_add(const STACK_OF(X509) *chain, struct sbuf *out);
void tls_name_add_info(const X509_NAME *name, const struct tls_dn_part *part, struct sbuf *out);

#endif
