/*
 * OpenSSL's contexts. Made by the main thread, or the first worker while the others are paused;
 * each is used by one worker.
 */
#ifndef TACIT_TLS_CONTEXT_H
#define TACIT_TLS_CONTEXT_H

#include "base/compiler.h"
#include "tls/bind.h"
#include "tls/settings.h"

struct ssl_ctx_st;
struct x509_store_ctx_st;

/* Makes an acceptor's context for one variant, which begins with the certificate of `first` (NULL:
 * none). NULL with why (TLS_WHY_MAX); the caller owns a reference. */
struct ssl_ctx_st *tls_context_accept(struct tls_acceptor *a, struct tls_variant *v,
	const struct tls_line *first, char *why) must_check;
/* A connection of these settings, on which certificates are tried; the caller frees it. NULL with
 * why: the settings cannot be used, or memory is out. */
struct ssl_st *tls_context_trial(const struct tls_settings *set, char *why) must_check;
/* Checks that connections like this one, which has had no handshake, can use the certificate. 0 or
 * a negative reason with why. */
int tls_context_try(struct ssl_st *ssl, const struct tls_cert *c, const char *name, char *why)
	must_check;
/* Versions, ciphers, curves and signature algorithms of either side. 0 or a negative reason with
 * why. */
int tls_context_settle(struct ssl_ctx_st *ctx, const struct tls_settings *set, char *why)
	must_check;

#endif
