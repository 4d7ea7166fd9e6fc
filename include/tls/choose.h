/*
 * Callbacks of OpenSSL in a handshake: they choose a client's certificate and settings. On the
 * worker of the connection; they read the bind line's tables and change nothing.
 */
#ifndef TACIT_TLS_CHOOSE_H
#define TACIT_TLS_CHOOSE_H

#include "tls/bind.h"

struct ssl_ctx_st;
struct x509_store_ctx_st;

/* Has OpenSSL ask, for connections of this context. */
void tls_choose_enable(struct ssl_ctx_st *ctx, struct tls_acceptor *a, struct tls_variant *v);
/* SSL_CTX_set_verify()'s callback: errors that the settings ignore do not end the handshake. */
int tls_on_verify(int ok, struct x509_store_ctx_st *x);

#endif
