/*
 * The request to an OCSP responder (RFC 6960, appendix A) about a certificate, and whether its
 * answer may be stapled. First worker, or the main thread while the configuration is read.
 */
#ifndef TACIT_TLS_OCSP_RESPONDER_H
#define TACIT_TLS_OCSP_RESPONDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "tls/bind.h"
#include "tls/store.h"
#include "tls/tls_conf.h"

struct ocsp_cert_id_st;
struct tls_cert;
struct tls_ocsp;

/* Bytes of names and paths of a responder. */
#define TLS_OCSP_HOST_MAX 256
#define TLS_OCSP_PATH_MAX 1024

struct tls_ocsp_responder {
	char host[TLS_OCSP_HOST_MAX];  /* a name or an IP address, without brackets */
	unsigned int port;
	char path[TLS_OCSP_PATH_MAX];
};

/* The first responder of the certificate (authority information access) that is asked over plain
 * HTTP. 0, or -ERR_MISSING. */
int tls_ocsp_responder_of(const struct tls_cert *c, struct tls_ocsp_responder *out) must_check;
/* Appends the whole HTTP request, which asks about the certificate alone; for an HTTP proxy its
 * target has the absolute form (RFC 9112, 3.2.2). 0 or -ERR_NOMEM. */
int tls_ocsp_request(const struct tls_cert *c, const struct tls_ocsp_responder *to,
	int is_for_proxy, struct sbuf *out) must_check;
/*
 * The response if it may be stapled: it passes tls_ocsp_read(), is about the certificate, and was
 * signed by the issuer or with a certificate that the issuer has authorized. NULL with why
 * (TLS_WHY_MAX).
 */
struct tls_ocsp *tls_ocsp_accept(const struct tls_cert *c, const void *der, size_t len, char *why)
	must_check;

/*
 * Settles it for the certificate of a line that a bind line has got: by the line of its crt-list
 * (`own`; NULL: none), by the bind line, by its crt-store, or by the global section; the first
 * that is set counts. 0; or a negative reason with why (TLS_WHY_MAX): the line or the bind line
 * wants updates, and it cannot have them; or two lines, or a line and the crt-store, differ.
 */
int tls_ocsp_enable(struct tls_conf *conf, struct tls_line *l, const struct tls_settings *own,
	char *why) must_check;
/* Applies `ocsp-update` of the line `load` of an entry's certificate. 0, or a negative reason with
 * why (TLS_WHY_MAX): the line wants updates, and the certificate cannot have them. */
int tls_ocsp_enable_load(struct tls_conf *conf, struct tls_entry *e, enum tls_ocsp_update mode,
	char *why) must_check;

#endif
