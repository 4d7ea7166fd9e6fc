/*
 * Connections to servers through a SOCKS4 proxy (www.openssh.com/txt/socks4.protocol): a request
 * below any transport, and a reply of 8 bytes, of which only the code is read. The bytes
 * behind it are the server's.
 */
#ifndef TACIT_NET_SOCKS4_H
#define TACIT_NET_SOCKS4_H

#include <stdint.h>

#include "base/compiler.h"
#include "net/addr.h"
#include "net/conn.h"
#include "net/conn_err.h"

/* With HAProxy's user id. */
#define SOCKS4_REQUEST_LEN 16
#define SOCKS4_REPLY_LEN 8

enum socks4_step {
	SOCKS4_SENDS,   /* waits until the rest of the request can be sent */
	SOCKS4_READS,   /* waits for the rest of the reply */
	SOCKS4_GRANTED, /* the server is connected */
	SOCKS4_DENIED,
	SOCKS4_CLOSED,  /* the proxy has closed before the end of its reply */
	SOCKS4_FAILED
};

/* Prepares the request for a server; c has sent nothing yet. 0, -EAFNOSUPPORT unless `to` is an
 * IPv4 address, or -ENOMEM. */
int socks4_begin(struct conn *c, const struct addr *to) must_check;
/* Sends and reads what it can. *got: bytes of the reply so far, at first 0. After the last three
 * results c->err is set. */
enum socks4_step socks4_proceed(struct conn *c, uint8_t *got) must_check;
/* The reason for the last three results; NONE for others. */
enum conn_err socks4_error(enum socks4_step step);

#endif
