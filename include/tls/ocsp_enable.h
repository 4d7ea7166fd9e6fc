/* Chooses the certificates that get new OCSP responses (`ocsp-update`). Main thread, or the first
 * worker. */
#ifndef TACIT_TLS_OCSP_ENABLE_H
#define TACIT_TLS_OCSP_ENABLE_H

#include "base/compiler.h"
#include "tls/bind.h"
#include "tls/store.h"
#include "tls/tls_conf.h"

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
int tls_ocsp_enable_load(struct tls_conf *conf, struct tls_entry *e, enum tls_ocsp_update said,
	char *why) must_check;

#endif
