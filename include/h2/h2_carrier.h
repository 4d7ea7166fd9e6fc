/*
 * A connection that speaks HTTP/2, of a client or to a server: what it receives makes and feeds
 * streams (h2/h2_xprt.h), and what the users of these write leaves in one send at the end of the
 * turn. The user waits for the connection, as h2_carrier_wants() says, and ends it. On the worker
 * that owns the connection.
 */
#ifndef TACIT_H2_H2_CARRIER_H
#define TACIT_H2_H2_CARRIER_H

#include "base/pool.h"
#include "h2/h2_conn.h"
#include "net/conn_stream.h"

struct h2_carrier;
struct h2_xprt;

/* Shared by all carriers of one worker. */
struct h2_worker {
	struct pool streams;       /* struct h2_xprt */
	struct h2_shared shared;
	struct http_field *field;  /* of a head while it is translated */
	unsigned int max_fields;
	struct h2_config client, server; /* of clients' connections, of those to servers */
};

struct h2_carrier_user {
	/* A client's request: opens the stream's connection (h2_xprt_open()). 0, the code with
	 * which the stream is reset, or -ERR_RANGE: its head is too long. NULL: the peer is a
	 * server. */
	int (*on_request)(struct h2_carrier *k, const struct http_head *req, struct h2_xprt **out);
	/* A client's request that was refused, since its head is invalid or too long. */
	void (*on_bad_request)(struct h2_carrier *k);
	/* A stream was closed by its user. */
	void (*on_close)(struct h2_carrier *k, enum conn_stream_end end);
	/* Bytes could not be sent, or it is lost or over: h2_carrier_wants() has changed. */
	void (*on_change)(struct h2_carrier *k);
};

struct h2_carrier {
	struct conn *conn;         /* the user's */
	struct h2_worker *worker;
	const struct h2_carrier_user *user;
	struct h2_conn h2;
	struct list streams;       /* struct h2_xprt.chain */
	unsigned int n_streams;
	uint32_t n_waiting;        /* of them: cannot begin yet */
	struct task flush, more;   /* output, and input that has waited */
	uint8_t is_lost;           /* the connection has failed, or the peer has closed it */
	uint8_t is_shut;           /* the client sends no more: it has its answers to come */
	uint8_t is_blocked;        /* the connection has not taken all output */
	uint8_t is_over;           /* GOAWAY: no stream begins any more */
	uint8_t is_mute;           /* output is dropped: the server reads no more */
};

/* 0 or -ERR_NOMEM. A head is no longer than head_size and has at most max_fields. */
int h2_worker_init(struct h2_worker *w, size_t head_size, unsigned int max_fields) must_check;
void h2_worker_fini(struct h2_worker *w);

/* Begins HTTP/2 on an open connection: its preface and SETTINGS leave with the first flush. 0 or
 * -ERR_NOMEM. */
int h2_carrier_init(struct h2_carrier *k, struct conn *c, struct h2_worker *w,
	const struct h2_config *cfg, int is_client, const struct h2_carrier_user *user) must_check;
/* Frees it. No stream may be left. */
void h2_carrier_fini(struct h2_carrier *k);

/* Reads what has arrived, through a buffer of the caller: the number of bytes. */
size_t h2_carrier_read(struct h2_carrier *k, char *scratch, size_t size);
/* Reads what has arrived for the stream c, or another one of its connection, and was not reported
 * yet. */
void h2_carrier_look(const struct conn *c, char *scratch, size_t size);
/* Takes bytes that its caller has read: a preface, what was read before HTTP/2 was known. */
void h2_carrier_input(struct h2_carrier *k, const char *p, size_t n);
/* Writes what is waiting: the number of bytes. */
size_t h2_carrier_flush(struct h2_carrier *k);
/* The connection is lost: all streams are reset. It stays open. */
void h2_carrier_lose(struct h2_carrier *k);
/* Sends GOAWAY; streams that run continue. at_once: without a time for those that are on their
 * way. */
void h2_carrier_leave(struct h2_carrier *k, int at_once);
/* Ends the connection with all its streams, as if it were lost: behind a GOAWAY, or silently
 * (net/silent_drop.h). It stays open. */
void h2_carrier_end(struct h2_carrier *k, int silently);

/* The directions in which the connection has to be watched. */
unsigned int h2_carrier_wants(const struct h2_carrier *k);
/* True if bytes wait for the connection longer than until the end of the turn. */
static inline int
h2_carrier_is_blocked(const struct h2_carrier *k)
{
	return k->is_blocked;
}
/* True if nothing is left to do: no stream, and it is lost, or over and all is sent. */
int h2_carrier_has_ended(const struct h2_carrier *k);
/* True if another stream may begin, to a server. */
int h2_carrier_has_room(const struct h2_carrier *k);

#endif
