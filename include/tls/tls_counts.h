/* Numbers of TLS connections: of one worker, which alone writes them, and what the workers
 * share. */
#ifndef TACIT_TLS_TLS_COUNTS_H
#define TACIT_TLS_TLS_COUNTS_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/freq.h"

struct tls;
struct tls_io;

/* Counters of all workers. Zero at first; max is set before connections are made. */
struct tls_shared {
	unsigned int max;     /* maxsslconn: connections with clients and servers; 0: no limit */
	unsigned int n;       /* current ones, if there is a limit; atomic */
	/* The numbers of this second (base/freq.h). */
	uint64_t accepted_second, client_keys_second, server_keys_second;
};

struct tls_counts {
	_Atomic unsigned int live;  /* current connections, with clients and servers */
	_Atomic uint64_t cum;
	_Atomic uint64_t kept;      /* bytes that wait between OpenSSL and the sockets */
	struct freq accepted;       /* of clients, before their handshakes */
	struct freq client_keys, server_keys; /* handshakes that resumed no session */
};

/* Sets the counters that the io's connections count in, besides its own; NULL: none. */
void tls_io_share(struct tls_io *io, struct tls_shared *shared);
const struct tls_counts *tls_io_counts(const struct tls_io *io);
/* `clear counters`: its worker must be paused, or be the caller's. */
void tls_io_clear_maxima(struct tls_io *io);
/* Bytes that its connections take: an estimate for each, and what waits for sockets. */
uint64_t tls_io_memory(const struct tls_io *io);

/* --- for the transport --- */

/* A connection begins: 0, or -ERR_FULL at maxsslconn. */
int tls_count_begin(struct tls_io *io) must_check;
/* Counts a connection that has begun to accept. */
void tls_count_accept(struct tls_io *io, uint64_t now_ms);
/* Its handshake is done. */
void tls_count_handshake(struct tls *t, uint64_t now_ms);
void tls_count_end(struct tls_io *io);

#endif
