/* Which certificates get new OCSP responses (`ocsp-update`). Main thread, or the
 * first worker. */
#ifndef TACIT_TLS_OCSP_ENABLE_H
#define TACIT_TLS_OCSP_ENABLE_H

#include "base/compiler.h"
#include "tls/bind.h"
#include "tls/store.h"
#include "tls/tls_conf.h"

/*
 * Settles it for a certificate that a bind line uses: by the line of its crt-list (`own`; NULL:
 * none), by the bind line, or by the global section. 0; or a negative reason with why
 * (TLS_WHY_MAX): the line or the bind line says that it is updated, and it cannot be.
 */
int tls_ocsp_enable(struct tls_conf *conf, const struct tls_bind *b,
	const struct tls_settings *own, struct tls_entry *e, char *why) must_check;

#endif
