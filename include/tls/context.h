/*
 * OpenSSL's contexts. Made by the main thread, or the first worker while the others stand still;
 * each is used by one worker.
 */
#ifndef TACIT_TLS_CONTEXT_H
#define TACIT_TLS_CONTEXT_H

#include "base/compiler.h"
#include "tls/bind.h"
#include "tls/settings.h"

/* Of an acceptor for one variant. NULL with why (TLS_WHY_MAX); the caller owns a reference. */
struct ssl_ctx_st *tls_context_accept(struct tls_acceptor *a, unsigned int variant, char *why)
	must_check;
/* The certificate that the context begins with is the default one, as it is now. 0 or a negative
 * reason with why. */
int tls_context_set_default(struct tls_acceptor *a, unsigned int variant, char *why) must_check;
/* Versions, ciphers, curves and signature algorithms of either side. 0 or a negative reason with
 * why. */
int tls_context_settle(struct ssl_ctx_st *ctx, const struct tls_settings *set, char *why)
	must_check;

#endif
