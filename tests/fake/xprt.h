/*
 * A scripted transport, for tests of what reads and writes through one: a handshake, records with
 * scrambled bytes, a closing message before the FIN. Records may be split at any byte. A read may
 * have to wait until the transport can write, and a write until it can read. It supports neither
 * peek nor splice. Code that reads or writes the socket directly gets scrambled bytes.
 *
 * The script stands under a connection (struct xprt_maker); fake_wire is the same language for the
 * peer, over a socket of tests/fake/kernel.h.
 */
#ifndef TACIT_FAKE_XPRT_H
#define TACIT_FAKE_XPRT_H

#include <stddef.h>
#include <stdint.h>

#include "fake/kernel.h"
#include "net/xprt.h"

#define FAKE_RECORD 1000 /* bytes of a user in one record, at most */
#define FAKE_WIRE   4096 /* bytes of records that are held */

struct fake_script {
	struct xprt_maker maker; /* of a listener or a server */
	int is_client;           /* it says hello first */
	unsigned int caps;       /* XPRT_x, 0: none */
	size_t read_max;         /* bytes of one read of the socket; 0: as many as there are */
	size_t record;           /* bytes of a user in one record; 0: FAKE_RECORD */
	unsigned int ask_every;  /* so many records later it reads an answer before it writes on */
	int refuses;             /* make fails */
	/* What happened, all connections together. */
	unsigned int made, live, up;
	unsigned int read_waited_to_write, write_waited_to_read;
	unsigned int held;       /* records that were in memory when a read ended */
	unsigned int ends_said, ends_heard;
};

/* All zero but for the words given. */
#define FAKE_SCRIPT(...) { .maker = { fake_xprt_make }, __VA_ARGS__ }
struct xprt *fake_xprt_make(const struct xprt_maker *m, const struct conn *c, int *reason);

/* Records on their way in and out. */
struct fake_records {
	uint8_t in[FAKE_WIRE], out[FAKE_WIRE];
	size_t n_in, n_out;
	uint8_t text[FAKE_RECORD]; /* of the record that was taken last */
	size_t at, n;              /* of it: read, and all */
};

/* One end of the wire that is no connection of ours. */
struct fake_wire {
	struct fake_records rec;
	int is_client, is_up;
	int said_hello, said_end, heard_end;
	int is_cut; /* a FIN came before the end */
	unsigned int update_every; /* so many records later the other side has to answer */
	unsigned int sent;
};

/* As fake_peer_send(): bytes taken, which may still be on their way, or -EAGAIN or an error. */
long fake_wire_send(struct fake_wire *w, struct fake_sock *s, const void *buf, size_t len);
/* As fake_peer_recv(). 0: an end that was said; a FIN without it is -EPROTO. */
long fake_wire_recv(struct fake_wire *w, struct fake_sock *s, void *buf, size_t len);
/* Sends what is on its way: 1 when nothing is left of it. */
int fake_wire_flush(struct fake_wire *w, struct fake_sock *s);
/* Says the end: 1 when it is out. */
int fake_wire_end(struct fake_wire *w, struct fake_sock *s);

#endif
