/*
 * A stream of HTTP/2 (RFC 9113, 5): bodies, heads to be sent, its end. See h2/h2_conn.h, which
 * begins streams and reports what they receive.
 */
#ifndef TACIT_H2_H2_STREAM_H
#define TACIT_H2_H2_STREAM_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "h2/h2_bytes.h"
#include "http/head.h"

struct h2_conn;

struct h2_stream {
	struct h2_conn *conn;
	struct h2_stream *next;    /* of its bucket */
	struct list wait;          /* conn->blocked */
	struct h2_bytes rx;
	uint64_t body_left;        /* by Content-Length; UINT64_MAX: unknown */
	uint64_t last_frame;       /* the place in the output of its last HEADERS or DATA */
	int64_t send_window, recv_window;
	int64_t extra;             /* its part of conn->extra */
	uint32_t id;
	uint32_t rst_code;         /* of the peer's RST_STREAM: has_rst */
	uint8_t method;            /* enum http_method of the request */
	uint8_t is_extended;       /* RFC 8441 */
	uint8_t is_tunnel;         /* DATA alone follows the peer's head */
	uint8_t rx_head, rx_end;   /* the peer's final head, END_STREAM */
	uint8_t has_body;          /* counted in conn->n_bodies */
	uint8_t tx_head, tx_end;   /* ours */
	uint8_t tx_dropped;        /* the peer does not want the rest (8.1) */
	uint8_t reset_in, reset_out;
	uint8_t has_rst;
	uint8_t is_reported;       /* on_reset was called */
	uint8_t is_open;           /* counted in conn->n_open */
	uint8_t waits_head;        /* for room for a head */
};

/*
 * Client role: begins st, whose memory is the user's, with a request. One that asks for a websocket
 * becomes an extended CONNECT. 0; -ERR_FULL: as many streams as may be are open; -ERR_UNSUPPORTED:
 * the server takes no websocket; -ERR_CLOSED: no stream can begin any more; -ERR_INVAL, -ERR_RANGE,
 * -ERR_NOMEM. There is always room in the output.
 */
int h2_conn_open(struct h2_conn *h, struct h2_stream *st, const struct http_head *req, int end)
	must_check;

/* Bytes of the body that have come and were not taken; the end has come, maybe behind them. */
size_t h2_stream_readable(const struct h2_stream *st);
static inline int
h2_stream_has_ended(const struct h2_stream *st)
{
	return st->rx_end;
}
/* Takes up to len bytes; their window is given back, with that of padding. */
size_t h2_stream_take(struct h2_stream *st, void *buf, size_t len);

/* Sends a head of any kind. 0; -ERR_FULL: there is no room, on_room follows; never: -ERR_INVAL,
 * -ERR_RANGE, -ERR_NOMEM, -ERR_CLOSED. */
int h2_stream_send_head(struct h2_stream *st, const struct http_head *h, int end) must_check;
/* The number of bytes that h2_stream_send() takes now; when it is 0 on_room follows. */
size_t h2_stream_may_send(struct h2_stream *st);
/* True if a body waits for the peer to open a window. */
int h2_stream_lacks_window(const struct h2_stream *st);
/* Sends up to so many bytes of the body: their number. end: they are the last ones. */
size_t h2_stream_send(struct h2_stream *st, const void *buf, size_t len, int end);
/* Ends our side: on the stream's last frame if that has not left yet. */
void h2_stream_end(struct h2_stream *st);
void h2_stream_reset(struct h2_stream *st, uint32_t code);
/* The user is done with it and owns its memory again; one that has not ended on both sides is
 * reset. */
void h2_stream_release(struct h2_stream *st);

#endif
