/*
 * A connection of HTTP/2 (RFC 9113) of either role, as a machine without I/O and without a clock:
 * received bytes in, callbacks and bytes to send out. It has settings, field blocks, flow control
 * and the bounds on what a peer may cause; heads are data (http/head.h), bodies are bytes.
 *
 * Streams are objects of the user (struct h2_stream, embedded in the user's own). A stream takes
 * one of the connection's places from the callback or call that begins it until
 * h2_stream_release(), whatever the peer does to it: a peer that resets its streams gets no more
 * work done than one that does not. Where an answer would not fit into the output, or no place is
 * free, input waits here.
 *
 * On the worker that owns the connection. A callback may make any call but h2_conn_fini(),
 * h2_conn_input() and h2_conn_continue(), and may release any stream; that of on_request begins
 * when the callback returns. The head in a callback is in memory of the worker: no connection of
 * this worker may be given input there.
 */
#ifndef TACIT_H2_H2_CONN_H
#define TACIT_H2_H2_CONN_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/pool.h"
#include "base/str.h"
#include "h2/h2_bytes.h"
#include "h2/h2_frame.h"
#include "h2/h2_head.h"
#include "h2/h2_stat.h"
#include "h2/h2_stream.h"
#include "http/head.h"

/* Memory and room that all connections of a worker use. */
struct h2_shared {
	struct pool out;          /* pieces of output */
	struct pool in;           /* pieces of bodies, of field blocks and of input that waits */
	struct http_field *field; /* of the head in a callback */
	unsigned int max_fields;
	char *text;               /* its texts */
	size_t text_size;
	uint8_t *block;           /* a field block while it is encoded */
	size_t block_size;
	void *allocator;          /* of HPACK's tables */
	_Atomic size_t bytes;     /* of HPACK's tables and of kept heads: in no pool */
	struct h2_stat none;      /* of connections whose stat was not set */
};

/* head_size: a head with all its fields is no longer, as HTTP/1. 0 or -ERR_NOMEM. */
int h2_shared_init(struct h2_shared *s, size_t head_size, unsigned int max_fields) must_check;
void h2_shared_fini(struct h2_shared *s);

struct h2_config {
	uint32_t window;          /* of a stream: SETTINGS_INITIAL_WINDOW_SIZE */
	uint32_t max_streams;     /* that a client may open, or that are opened to a server: > 0 */
	uint32_t header_table;    /* SETTINGS_HEADER_TABLE_SIZE */
	uint32_t rxbuf;           /* bytes of bodies that may wait, beside the window of each stream
	                           * but one */
	uint32_t max_frames;      /* in one input, 0: no bound */
	uint32_t max_resets;      /* RST_STREAM in one input, 0: no bound */
	uint32_t max_glitches;    /* then the connection is ended, 0: no bound */
	uint32_t max_total;       /* requests of a client, then GOAWAY; 0: no bound. By the user */
	uint8_t no_extended;      /* SETTINGS_ENABLE_CONNECT_PROTOCOL is not sent */
};
void h2_config_default(struct h2_config *cfg);

struct h2_user {
	/* Server role: a request's head; its texts are valid during the call. Sets *out to a stream
	 * of the user's, or returns the code to reset it with, or -ERR_RANGE: its head is too long.
	 */
	int (*on_request)(void *arg, const struct http_head *req, int end, struct h2_stream **out);
	/* Server role, may be NULL: a request whose head is invalid or too long was refused. */
	void (*on_bad_request)(void *arg);
	/* A head: trailers, and in the client role a response, also 1xx. 0, or a negative reason:
	 * the stream is reset. Its texts are valid during the call. */
	int (*on_head)(struct h2_stream *st, struct http_head *h, int end);
	/* h2_stream_readable() has grown, or h2_stream_has_ended(). */
	void (*on_data)(struct h2_stream *st);
	/* h2_stream_may_send() is not 0 any more, or a head fits again. */
	void (*on_room)(struct h2_stream *st);
	/* The stream was reset by the peer, by an error, or with its connection. unprocessed:
	 * nothing was done for it (8.7): REFUSED_STREAM, or above the last id of a GOAWAY. It is
	 * released as any other. */
	void (*on_reset)(struct h2_stream *st, uint32_t code, int unprocessed);
	/* The output was empty and is not any more. */
	void (*on_output)(void *arg);
	/* The peer has sent GOAWAY, or a connection error was found: no stream begins any more. */
	void (*on_goaway)(void *arg);
	/* h2_conn_continue() is to be called, in a task: input that had to wait can be used, or
	 * memory has failed in a call of the user's. */
	void (*on_continue)(void *arg);
};

/* Streams that a server is taken to allow before its SETTINGS. */
#define H2_STREAMS_GUESS 100u
/* Streams are found by id among so many lists. */
#define H2_BUCKETS 16
/* Ids of streams that were reset by us and released: frames of them may still arrive. */
#define H2_RESETS_KEPT 32
/* Streams to a server that may await their END_STREAM without their users; the oldest of more is
 * reset. */
#define H2_ENDS_AWAITED 64

struct h2_conn {
	const struct h2_config *cfg;
	struct h2_shared *shared;
	const struct h2_user *user;
	void *arg;
	struct h2_stat *stat;      /* the user may set it after h2_conn_init() */
	uint8_t is_client;
	uint8_t is_tls;            /* requests to a server are of https: set by the user, as stat */
	uint8_t has_failed;        /* a connection error: GOAWAY is in the output */
	uint8_t is_reported;       /* its streams and its user know */
	uint8_t is_busy;           /* input is used */
	uint8_t goaway_out;        /* enum goaway of h2_conn.c */
	uint8_t goaway_in;         /* the peer has sent one */
	uint8_t has_settings;      /* the peer's have arrived */
	uint8_t has_ack;           /* ours are acknowledged */
	uint8_t may_extend;        /* the peer allows extended CONNECT */
	uint8_t phase;             /* of the frame that arrives: enum h2_phase */
	uint8_t waits;             /* why input waits: enum h2_wait */
	uint32_t glitches;

	/* The frame that arrives. */
	struct h2_frame frame;
	struct h2_verdict verdict;
	uint8_t hold[H2_PREFACE_LEN]; /* the beginning of what is not complete */
	uint8_t n_hold;
	uint8_t padding;           /* behind its payload */
	uint32_t left;             /* of its payload, with the padding */
	uint32_t frames, resets;   /* that this input may still have */
	struct h2_bytes rest;      /* input that waits */
	/* The field block that arrives. */
	struct h2_piece *block;    /* its beginning */
	uint32_t block_stream;     /* 0: none */
	uint8_t block_frames;
	uint8_t block_ends;        /* END_STREAM */
	uint8_t block_opens;       /* it is a request's, whose stream begins with it */
	uint8_t block_dropped;     /* decoded for its table only, and dropped */
	uint32_t block_code;       /* its stream is reset with it, or 0 */

	/* Streams. */
	struct h2_stream *bucket[H2_BUCKETS];
	struct h2_guard *guards;   /* streams whose callbacks run */
	struct h2_stream *reader;  /* has the next bytes in the input: */
	const uint8_t *direct;
	size_t n_direct;
	struct list blocked;       /* streams that wait for room: h2_stream.wait. The first one has
	                            * sent nothing for the longest time */
	uint32_t n_attached;       /* not released */
	uint32_t n_open;           /* not closed (5.1.2) */
	uint32_t n_bodies;         /* whose body arrives */
	uint32_t max_id;           /* the highest that the peer has opened */
	uint32_t last_id;          /* the highest that was not ignored after GOAWAY */
	uint32_t next_id;          /* ours */
	uint32_t reset_ids[H2_RESETS_KEPT];
	uint8_t reset_at;
	uint32_t forgotten_id;     /* the highest one that has left reset_ids */
	/* Streams that were released with a complete response, the oldest first: the server counts
	 * them as open until it has sent END_STREAM. */
	uint32_t ending_ids[H2_ENDS_AWAITED];
	uint8_t n_ending;

	/* Flow control; windows may be negative (6.9.2). */
	int64_t send_window, recv_window;
	uint32_t recv_due;         /* taken, and the peer does not know it yet */
	uint32_t peer_window, peer_max_streams;
	int64_t window_by;         /* the change of peer_window in the SETTINGS that arrive */
	uint32_t local_window;     /* of our streams, as the peer knows it */
	int64_t extra;             /* of rxbuf: what all streams have above that window */

	struct h2_hpack hpack;
	struct h2_bytes out;
	uint64_t out_sent, out_shown; /* bytes that were sent; up to here the user has seen them */
	uint32_t goaway_code;      /* of the second GOAWAY */
};

/* 0 or -ERR_NOMEM. Its preface (client role) and SETTINGS are in the output. The config, the
 * shared memory and the user must outlive it. */
int h2_conn_init(struct h2_conn *h, const struct h2_config *cfg, struct h2_shared *shared,
	const struct h2_user *user, void *arg, int is_client) must_check;
/* Frees it. All streams must have been released. */
void h2_conn_fini(struct h2_conn *h);

/* Takes received bytes, all of them. 0, or -1: a connection error; its GOAWAY is in the output. */
int h2_conn_input(struct h2_conn *h, const uint8_t *p, size_t n);
/* Uses the input that waits, after on_continue. As h2_conn_input(). Failures are reported in these
 * two: no other call but h2_conn_sent() calls the user. */
int h2_conn_continue(struct h2_conn *h);
/* False while input waits: output is full, too many streams are attached, or it was much. */
int h2_conn_wants_input(const struct h2_conn *h);
/* The bytes to be sent next, in one run, and that n of them were sent. */
struct str h2_conn_output(struct h2_conn *h);
int h2_conn_has_output(const struct h2_conn *h);
void h2_conn_sent(struct h2_conn *h, size_t n);

/* Sends GOAWAY (6.8): at once with the last stream's id; otherwise that follows when the peer has
 * seen a first one, or by another call. */
void h2_conn_goaway(struct h2_conn *h, uint32_t code, int at_once);
/* True if streams that the peer opens now are ignored: the last GOAWAY was sent. */
int h2_conn_is_closing(const struct h2_conn *h);
/* Client role: true if no stream can begin any more: after a GOAWAY, or all ids were used. */
int h2_conn_is_used_up(const struct h2_conn *h);
/* The number of streams that may be open at once. */
unsigned int h2_conn_max_streams(const struct h2_conn *h);
/* Frees memory that the next head needs again, of a connection that has been idle for a while. */
void h2_conn_trim(struct h2_conn *h);

#endif
