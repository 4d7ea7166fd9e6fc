/*
 * Real TLS in a world: makers of transports for the daemon's sides, and wires for the ends. Keys
 * are of Ed25519, whose signatures have one length: so a world takes the same course each time,
 * whatever OpenSSL draws.
 */
#ifndef TACIT_SIM_TLS_WIRE_H
#define TACIT_SIM_TLS_WIRE_H

#include "fake/wire.h"
#include "tls/tls_io.h"
#include "tls/transport.h"

/* The two sides of one world. */
struct tls_sides {
	struct tls_io *io;          /* NULL: there is no TLS */
	struct tls_maker accepts, connects;
	struct ssl_session_st *session; /* of clients, to be offered */
	unsigned int update_every;  /* so many writes later an end updates its keys, and ours */
	int max_12;                 /* ends know no TLS 1.3 */
};

/* 0, or -1 without memory. */
int tls_sides_open(struct tls_sides *t);
/* No connection may be left. */
void tls_sides_close(struct tls_sides *t);
/* An end's wire: of a client of the daemon's, or of its server. */
struct wire *tls_wire_new(struct tls_sides *t, int is_client);
/* True if its handshake is complete, and has resumed a session. */
int tls_wire_is_shaken(const struct wire *w);
int tls_wire_is_resumed(const struct wire *w);

#endif
