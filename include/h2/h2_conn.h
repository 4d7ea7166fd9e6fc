/*
 * A connection of HTTP/2 (RFC 9113) of either role, as a machine without I/O and without a clock:
 * received bytes in, callbacks and bytes to send out. It has settings, field blocks, flow control
 * and the bounds on what a peer may cause; heads are data (http/head.h), bodies are bytes.
 *
 * Streams are objects of the user (struct h2_stream, embedded in his own). A stream takes one of
 * the connection's places from the callback or call that begins it until h2_stream_release(),
 * whatever the peer does to it: a peer that resets streams gets no more of them than one that does
 * not.
 *
 * On the worker that owns the connection. No call may be made for a stream in its own callback but
 * those that say so.
 */
#ifndef TACIT_H2_H2_CONN_H
#define TACIT_H2_H2_CONN_H

#include "base/list.h"
#include "base/str.h"
#include "h2/h2_frame.h"
#include "h2/h2_head.h"
#include "http/head.h"

/* (the lead's draft, 23:48: H owns this file from here on; keep these names, add members and functions as needed) */

struct h2_conn;
struct h2_stream;

struct h2_config {
	uint32_t window;          /* of a stream: SETTINGS_INITIAL_WINDOW_SIZE */
	uint32_t max_streams;     /* that a client may open, or that are opened to a server */
	uint32_t max_frame;
	uint32_t header_table;
	uint32_t rxbuf;           /* bytes of bodies that a connection may hold */
	/* ... */
};
void h2_config_default(struct h2_config *cfg);

struct h2_user {
	/* Server role: a request's head; its texts are valid during the call. Sets *out to a stream
	 * of the user's, or returns the code to reset it with. */
	int (*on_request)(void *arg, const struct http_head *req, int end, struct h2_stream **out);
	/* A head: trailers, and in the client role a response, also 1xx. 0, or a negative reason:
	 * the stream is reset. */
	int (*on_head)(struct h2_stream *st, struct http_head *h, int end);
	/* h2_stream_readable() has grown, or h2_stream_has_ended(). */
	void (*on_data)(struct h2_stream *st);
	/* h2_stream_may_send() is not 0 any more, or a head fits again. */
	void (*on_room)(struct h2_stream *st);
	/* Reset by the peer, or by a stream error; unprocessed: REFUSED_STREAM, or above the last id
	 * of a GOAWAY (8.7). */
	void (*on_reset)(struct h2_stream *st, uint32_t code, int unprocessed);
	/* h2_conn_output() was empty and is not any more. */
	void (*on_output)(void *arg);
	/* The peer has sent GOAWAY, or a connection error was found: no stream begins any more. */
	void (*on_goaway)(void *arg);
};

/* 0 or -ERR_NOMEM. Its preface (client role) and SETTINGS are in the output. */
int h2_conn_init(struct h2_conn *h, const struct h2_config *cfg, const struct h2_user *user, void *arg,
	int is_client) must_check;
void h2_conn_fini(struct h2_conn *h);

/* Takes received bytes, all of them. 0, or -1: a connection error; its GOAWAY is in the output. */
int h2_conn_input(struct h2_conn *h, const uint8_t *p, size_t n);
/* False while more input could not be answered: output is full, or too many streams are attached. */
int h2_conn_wants_input(const struct h2_conn *h);
/* What has to be sent next, and that n bytes of it were. */
struct str h2_conn_output(const struct h2_conn *h);
void h2_conn_sent(struct h2_conn *h, size_t n);

/* GOAWAY: in two steps (6.8), or at once with the last stream's id. */
void h2_conn_goaway(struct h2_conn *h, uint32_t code, int at_once);
/* Client role: the number of streams that may be open at once. */
unsigned int h2_conn_max_streams(const struct h2_conn *h);
/* Client role: begins st with a request. 0, -ERR_FULL: no room in the output; -ERR_INVAL; -ERR_NOMEM. */
int h2_conn_open(struct h2_conn *h, struct h2_stream *st, const struct http_head *req, int end) must_check;

/* Bytes of the body that have come and were not taken; the end has come, maybe behind them. */
size_t h2_stream_readable(const struct h2_stream *st);
int h2_stream_has_ended(const struct h2_stream *st);
/* Takes up to len bytes; their window is given back. */
size_t h2_stream_take(struct h2_stream *st, void *buf, size_t len);

/* Sends a head of any kind. 0; -ERR_FULL: there is no room, on_room follows; -ERR_INVAL, -ERR_NOMEM. */
int h2_stream_send_head(struct h2_stream *st, const struct http_head *h, int end) must_check;
/* The number of bytes that h2_stream_send() takes now; when it is 0 on_room follows. */
size_t h2_stream_may_send(struct h2_stream *st);
/* Sends up to so many bytes of the body; end: they are the last ones. Returns their number. */
size_t h2_stream_send(struct h2_stream *st, const void *buf, size_t len, int end);
/* Ends our side: on the stream's last frame if that has not been sent yet. */
void h2_stream_end(struct h2_stream *st);
void h2_stream_reset(struct h2_stream *st, uint32_t code);
/* The user is done with it, and its memory is his again: one that has not ended on both sides is reset. */
void h2_stream_release(struct h2_stream *st);

struct h2_stream {
	uint32_t id;
	struct h2_conn *conn;
	/* H: yours */
};

struct h2_conn {
	uint8_t is_client;
	/* H: yours */
};

#endif
