/*
 * The last session of a server, for the connections of one worker to it. A session is for the name
 * that was asked for when it began.
 */
#ifndef TACIT_TLS_RESUME_H
#define TACIT_TLS_RESUME_H

#include "tls/openssl.h"

struct tls_resume;

/* NULL when memory is out. The connections of ctx are to keep their sessions. */
struct tls_resume *tls_resume_new(SSL_CTX *ctx);
struct tls_resume *tls_resume_get(struct tls_resume *r);
/* NULL is allowed. */
void tls_resume_put(struct tls_resume *r);
/* Offers the session to the server, in the hello to come. */
void tls_resume_offer(const struct tls_resume *r, SSL *ssl);

#endif
