/*
 * The second ticket of a client with TLS 1.3. OpenSSL sends two after a full handshake, so that the
 * client can open more connections the next time than it has now. A ticket takes a twentieth of the
 * CPU of a handshake, and many clients close after one answer: the first ticket ends the handshake,
 * the second one goes with the second answer. A ticket is used for the name that it was made for.
 * On the worker of the connection.
 */
#ifndef TACIT_TLS_SECOND_TICKET_H
#define TACIT_TLS_SECOND_TICKET_H

#include "tls_bio.h"

/* For a context that accepts on the worker of io, before its first connection. */
void second_ticket_enable(SSL_CTX *ctx, struct tls_io *io);
/* After data was read from the client. */
void second_ticket_on_read(struct tls *t);
/* Before data is written to the client, within the operation. */
void second_ticket_on_write(struct tls *t);

#endif
