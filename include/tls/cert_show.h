/* Certificates as `show ssl cert` describes them. First worker. */
#ifndef TACIT_TLS_CERT_SHOW_H
#define TACIT_TLS_CERT_SHOW_H

#include "base/sbuf.h"
#include "tls/cert.h"

/* Lines about it, from "Serial:" on. */
void tls_cert_show(const struct tls_cert *c, struct sbuf *out);
/* The id of its OCSP response, if it has one; that of a transaction may not have been checked. */
void tls_cert_show_ocsp_key(const struct tls_cert *c, struct sbuf *out);

#endif
