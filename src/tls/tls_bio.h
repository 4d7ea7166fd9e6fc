/*
 * Bytes between OpenSSL and the socket: the BIO of all transports of one worker, which own none.
 * Within an operation (tls_enter to tls_leave) what one recv() has brought is handed out from
 * memory, and what OpenSSL writes is collected; tls_leave sends it with one send().
 */
#ifndef TACIT_TLS_TLS_BIO_H
#define TACIT_TLS_TLS_BIO_H

#include <stdint.h>

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
	uint8_t waits_r, waits_w;
	uint8_t out_waits;     /* out need not be sent before the next data: tickets */
	uint8_t has_failed;    /* OpenSSL must not be called again */
	uint8_t said_end;
	uint8_t second_ticket; /* enum second_ticket */
	uint8_t has_session;   /* a session came that another connection can resume */
	uint8_t crt_err, ca_err, ca_err_depth; /* X509_V_ERR_x of the peer's certificates */
};

static inline struct tls *
tls_of(const struct conn *c)
{
	return container_of(c->xprt, struct tls, x);
}

/* The worker's BIO: 0 or -ERR_NOMEM. */
int tls_bio_open(struct tls_io *io) must_check;
void tls_bio_close(struct tls_io *io);
/* Begins an operation; read_max: so many bytes of the socket at a time. */
void tls_enter(struct tls *t, struct conn *c, size_t read_max);
/* At its beginning: what waits for data leaves with what is written now. */
void tls_take_waiting(struct tls *t);
/* Ends it. hold: what was written need not be sent before the next data; more: data or the FIN
 * follows at once. IO_OK: nothing is left to send; IO_AGAIN, or IO_ERR. */
enum io_result tls_leave(struct tls *t, struct conn *c, int hold, int more);
/* Before it ends, when OpenSSL has failed: sends what it has written, as far as the socket takes
 * it. */
void tls_send_alert(struct tls *t, struct conn *c);
/* Sends what is left of earlier operations: IO_OK, IO_AGAIN or IO_ERR. */
enum io_result tls_flush(struct tls *t, struct conn *c, int more);
/* True if the peer has not taken more than the user's data and TLS_ANSWERS_MAX: what it sends makes
 * more answers, so it is not read. */
int tls_owes_much(const struct tls *t);
/* True if a whole record has been read and waits. */
int tls_has_record(const struct tls *t);
/* The same within an operation, of what OpenSSL has not taken yet. */
int tls_has_unread_record(const struct tls_io *io);
/* True if the records of one send may be one more. */
static inline int
tls_has_room(const struct tls_io *io)
{
	return io->out_len <= (TLS_SEND_RECORDS - 1) * (size_t)TLS_RECORD_WIRE;
}
void tls_drop_kept(struct tls *t);
/* Takes OpenSSL's errors off its queue and keeps the first. */
void tls_note_failure(struct tls *t);

#endif
