/*
 * The wire that an end of peers reads and writes through: its socket, or TLS on it. The functions
 * are as recv() and send(), with errno; `struct wire *` is NULL for a plain socket.
 */
#ifndef TACIT_PEERS_WIRE_H
#define TACIT_PEERS_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct wire;

/* Counters of TLS, over all wires. */
struct wire_tally {
	uint64_t handshakes, resumed, updates, tls12;
};
extern struct wire_tally wire_tally;

/* Versions of a side. */
enum wire_versions { WIRE_TLS12, WIRE_TLS13, WIRE_BOTH };

/* Makes the side's context: pem is its certificate and key; NULL: it is the client. 0 or -1. */
int wire_set_up(enum wire_versions versions, const char *pem);
/* accepts: it is the server's end. chance: random bits, which choose the version (of WIRE_BOTH),
 * whether a session is offered, and whether keys are updated. Aborts without memory. */
struct wire *wire_new(int fd, bool accepts, uint64_t chance);
void wire_free(struct wire *w);
/* 0: the closing message (of a plain socket, FIN). EPROTO: FIN without the closing message;
 * EBADMSG: a failure of TLS, which wire_why() explains. */
ssize_t wire_recv(struct wire *w, int fd, void *buf, size_t n);
/* After EAGAIN the same bytes must be passed again, wire_again() of them. */
ssize_t wire_send(struct wire *w, int fd, const void *buf, size_t n);
size_t wire_again(const struct wire *w);
/* Sends the closing message, if there is TLS: 0, or -1 and errno. FIN is left to the caller. */
int wire_end(struct wire *w);
/* Bytes can be read that poll() does not know of. */
bool wire_has_more(const struct wire *w);
/* The last read waits until the socket is writable, the last write until it is readable. */
bool wire_read_waits(const struct wire *w);
bool wire_write_waits(const struct wire *w);
const char *wire_why(void);

#endif
