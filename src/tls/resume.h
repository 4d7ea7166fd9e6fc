/*
 * The last sessions of a server, for the connections of one worker to it: one for each name that is
 * asked for and each service behind it, up to a number.
 */
#ifndef TACIT_TLS_RESUME_H
#define TACIT_TLS_RESUME_H

#include "tls/openssl.h"
#include "tls/transport.h"

struct shared_sessions;
struct tls_resume;

/* NULL when memory is out. The connections of ctx are to keep their sessions, n at most. */
struct tls_resume *tls_resume_new(SSL_CTX *ctx, unsigned int n);
struct tls_resume *tls_resume_get(struct tls_resume *r);
/* By any thread. NULL is allowed. */
void tls_resume_put(struct tls_resume *r);
/* Shares sessions with other workers, and takes theirs when it has none to offer: for connections
 * of one service. */
void tls_resume_share(struct tls_resume *r, struct shared_sessions *sh);
/* Offers the session of this service to the server, in the hello to come. */
void tls_resume_offer(struct tls_resume *r, SSL *ssl, unsigned int service);

/* For a context that accepts on the worker of io, before its first connection. */
void second_ticket_enable(SSL_CTX *ctx, struct tls_io *io);
/* After data was read from the client. */
void second_ticket_on_read(struct tls *t);
/* Before data is written to the client, within the operation. */
void second_ticket_on_write(struct tls *t);

#endif
