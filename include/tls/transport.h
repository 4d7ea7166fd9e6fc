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

#include <stdint.h>

#include "base/compiler.h"
#include "net/conn_socket.h"
#include "net/xprt.h"
#include "tls/openssl.h"
#include "tls/tls_counts.h"

/* A full record on the wire, with the most that OpenSSL adds to it. */
#define TLS_RECORD      16384

#define TLS_RECORD_WIRE (TLS_RECORD + 512)
/* Records of one send. */
#define TLS_SEND_RECORDS 4

/* A read of the socket is this much longer than the user's, for what surrounds the data. */
#define TLS_READ_MORE 512

#define TLS_READ_MIN  4096
#define TLS_IN_SIZE  (4 * TLS_RECORD_WIRE)
/* Room for these records and for a message or an alert. */
#define TLS_OUT_SIZE ((TLS_SEND_RECORDS + 1) * TLS_RECORD_WIRE)

/* Answers that may wait behind the user's data; one that asks for new keys takes 27 bytes. */
#define TLS_ANSWERS_MAX 16384

/* Bytes that have to be saved between two operations. */
struct tls_kept {
	uint32_t at, len;
	uint8_t bytes[];
};

struct tls_io {
	BIO *bio;
	BIO_METHOD *method;
	struct tls_counts counts;
	struct tls_shared *shared; /* NULL: none */
	/* The operation that runs. */
	struct tls *cur;       /* NULL: none */
	struct conn *conn;
	const uint8_t *p;      /* bytes read from the socket that OpenSSL has not taken */
	size_t n;
	unsigned int reads;    /* of the socket that are left to this operation */
	size_t read_max;       /* of one read */
	size_t out_len;        /* bytes in out */
	enum io_result in_result; /* of the last read of the socket */
	uint8_t in[TLS_IN_SIZE], out[TLS_OUT_SIZE];
};

/* The state of a connection. */
struct tls {
	struct xprt x;
	SSL *ssl;
	struct tls_io *io;
	struct tls_resume *resume; /* a reference; NULL: it accepts, or nothing is resumed */
	struct tls_kept *in;   /* read and not taken by OpenSSL */
	struct tls_kept *out;  /* written by OpenSSL and not sent */
	struct tls_capture *capture; /* of the hello, and secrets; NULL: none */
	size_t taken;          /* of the user's data, in out: it has to pass them again */
	uint64_t sent;         /* of the user's data, since the transfer began */
	uint64_t sent_ms;      /* time of the last */
	unsigned long failure; /* OpenSSL's code of the first failure */
	unsigned int service;  /* sessions are shared within one */
	uint32_t key_updates;  /* that the peer has sent in this second */
	uint32_t key_second;
	uint8_t waits_r, waits_w;
	uint8_t out_waits;     /* out need not be sent before the next data: tickets */
	uint8_t has_failed;    /* OpenSSL must not be called again */
	uint8_t sent_end;
	uint8_t second_ticket; /* enum second_ticket */
	uint8_t has_session;   /* a session came that another connection can resume */
	uint8_t is_flooded;    /* by key updates: nothing more is read */
	uint8_t crt_err, ca_err, ca_err_depth; /* X509_V_ERR_x of the peer's certificates */
};

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
	struct tls_io *io; /* of the worker, which owns it (tls/tls_counts.h) */
	enum tls_role role;
	struct tls_resume *resume; /* the last sessions, for the next connections; NULL: none */
};

/* Takes a reference to ctx and sets what the transport needs in it. 0 or a negative reason. */
int tls_maker_init(struct tls_maker *m, struct tls_io *io, struct ssl_ctx_st *ctx,
	enum tls_role role) must_check;
/* Its transports may live on. */
void tls_maker_fini(struct tls_maker *m);

/* The worker's BIO: 0 or -ERR_NOMEM. */
int tls_bio_open(struct tls_io *io) must_check;
void tls_bio_close(struct tls_io *io);

/* Returns the TLS of a connection that has it itself, which a stream of HTTP/2 has not. */
static inline struct tls *
tls_of(const struct conn *c)
{
	return container_of(c->xprt, struct tls, x);
}

/* Returns the TLS of a connection, or of the one that carries it (HTTP/2); NULL: it has none. */
static inline const struct tls *
tls_below(const struct conn *c)
{
	struct str name;

	c = c ? conn_socket(c) : NULL;
	if (!c || !c->xprt || conn_query(c, XPRT_QUERY_NAME, &name) < 0 ||
		!str_is(name, STR("TLS")))
		return NULL;
	return tls_of(c);
}

/* True if the records of one send may be one more. */
static inline int
tls_has_room(const struct tls_io *io)
{
	return io->out_len <= (TLS_SEND_RECORDS - 1) * (size_t)TLS_RECORD_WIRE;
}

#endif
