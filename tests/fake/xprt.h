/*
 * A scripted transport, for tests of code that reads and writes through one: a handshake, records
 * with scrambled bytes, a closing message before the FIN. Records may be split at any byte. A read
 * may have to wait until the transport can write, and a write until it can read. It supports
 * neither peek nor splice. Code that reads or writes the socket directly gets scrambled bytes.
 *
 * The script is under a connection (struct xprt_maker); fake_wire speaks the same protocol for the
 * peer, over a socket of tests/fake/kernel.h: a wire (fake/wire.h), or called directly.
 */
#ifndef TACIT_FAKE_XPRT_H
#define TACIT_FAKE_XPRT_H

#include <stddef.h>
#include <stdint.h>

#include "fake/wire.h"
#include "net/xprt.h"

#define FAKE_RECORD 1000 /* maximum payload of a record */
#define FAKE_WIRE   4096 /* maximum size of the records held */

struct fake_script {
	struct xprt_maker maker; /* of a listener or a server */
	int is_client;           /* it sends hello first */
	unsigned int caps;       /* XPRT_x, 0: none */
	size_t read_max;         /* maximum size of a read from the socket; 0: no limit */
	size_t record;           /* payload of one record; 0: FAKE_RECORD */
	unsigned int ask_every;  /* so many records later it reads an answer before it writes on */
	int peer_is_mute;        /* the peer sends no hello, and answers none */
	int refuses;             /* creating a transport fails */
	/* Counters, for all connections together. */
	unsigned int made, live, up;
	unsigned int read_waited_to_write, write_waited_to_read;
	unsigned int held;       /* records in memory when a read ended */
	unsigned int ends_said, ends_heard;
};

/* All zero except the given fields. */
#define FAKE_SCRIPT(...) { .maker = { fake_xprt_make }, __VA_ARGS__ }
struct xprt *fake_xprt_make(const struct xprt_maker *m, const struct conn *c, int *reason);

/* Records in transit in both directions. */
struct fake_records {
	uint8_t in[FAKE_WIRE], out[FAKE_WIRE];
	size_t n_in, n_out;
	uint8_t text[FAKE_RECORD]; /* payload of the last record */
	size_t at, n;              /* of it: bytes read, and its length */
};

/* The peer's end of a connection with such a transport. */
struct fake_wire {
	struct wire wire;
	struct fake_records rec;
	int is_client, is_up;
	int is_mute; /* it sends no hello, and answers none */
	int sent_hello, sent_end, heard_end;
	int is_cut; /* a FIN came before the closing message */
	unsigned int update_every; /* after so many records the other side must answer */
	unsigned int sent;
};

/* Zero but for its operations; abort() without memory. */
struct fake_wire *fake_wire_new(void);
/* As the operations of struct wire. */
long fake_wire_send(struct fake_wire *w, struct fake_sock *s, const void *buf, size_t len);
long fake_wire_recv(struct fake_wire *w, struct fake_sock *s, void *buf, size_t len);
int fake_wire_flush(struct fake_wire *w, struct fake_sock *s);
int fake_wire_end(struct fake_wire *w, struct fake_sock *s);

#endif
