/*
 * TLS as a transport (net/xprt.h), on an SSL_CTX that its owner has prepared: certificates,
 * versions, ciphers, verification. A listener or server gets TLS by a maker:
 *
 *	r = tls_maker_init(&m, worker_tls, ctx, TLS_ACCEPTS);
 *	listener->xprt = &m.maker;
 *
 * Makers and their transports run on one worker, whose buffers they share. So does the SSL_CTX:
 * another worker has another one, which refers to the same certificates and keys.
 */
#ifndef TACIT_TLS_TRANSPORT_H
#define TACIT_TLS_TRANSPORT_H

#include "base/compiler.h"
#include "net/xprt.h"

/* SSL_CTX of OpenSSL. */
struct ssl_ctx_st;
struct tls_io;
struct tls_resume;

/* TLS_CONNECTS_ANEW: without the session of an earlier connection. TLS_CHECKS: EOF without
 * close_notify is accepted, since the services of a server end so. */
enum tls_role { TLS_ACCEPTS, TLS_CONNECTS, TLS_CONNECTS_ANEW, TLS_CHECKS };

struct tls_maker {
	struct xprt_maker maker;
	struct ssl_ctx_st *ctx;      /* a reference */
	struct tls_io *io; /* of the worker, which owns it (tls/tls_io.h) */
	enum tls_role role;
	struct tls_resume *resume; /* the last sessions, for the next connections; NULL: none */
};

/* Takes a reference to ctx and sets what the transport needs in it. 0 or a negative reason. */
int tls_maker_init(struct tls_maker *m, struct tls_io *io, struct ssl_ctx_st *ctx,
	enum tls_role role) must_check;
/* Its transports may live on. */
void tls_maker_fini(struct tls_maker *m);

#endif
