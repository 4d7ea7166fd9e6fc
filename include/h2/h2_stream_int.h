/* The part of h2_stream.c that connections use. */
#ifndef TACIT_H2_H2_STREAM_INT_H
#define TACIT_H2_H2_STREAM_INT_H

#include "h2/h2_conn.h"

/* A callback of a stream runs; the stream becomes NULL if it is released there. */
struct h2_guard {
	struct h2_stream *st;
	struct h2_guard *up;
};

/* True if neither side sends any more (5.1). */
static inline int
h2_stream_is_closed(const struct h2_stream *st)
{
	return (st->rx_end && st->tx_end) || st->reset_in || st->reset_out;
}

/* The bytes that a stream holds or may still receive, with the rest of a frame that arrives. */
static inline int64_t
h2_stream_room(const struct h2_stream *st)
{
	const struct h2_conn *h = st->conn;
	int64_t n = (int64_t)h2_stream_readable(st);

	if (st->rx_end || h2_stream_is_closed(st))
		return n;
	if (h->frame.type == H2_DATA && h->frame.stream == st->id)
		n += h->left - h->padding;
	return n + st->recv_window;
}

/* NULL: it is idle, or released. */
struct h2_stream *h2_stream_find(const struct h2_conn *h, uint32_t id);
/* Adds a stream to its connection. */
void h2_stream_attach(struct h2_stream *st, struct h2_conn *h, uint32_t id);
/* The state of a stream, which may have no object. */
enum h2_state h2_stream_state(const struct h2_conn *h, uint32_t id);
/* Resets a stream for an error of the peer, and reports it. */
void h2_stream_fail(struct h2_stream *st, enum h2_code code);
/* The same for one that may have no object. */
void h2_stream_refuse(struct h2_conn *h, uint32_t id, enum h2_code code);
/* Reports the reset, once, of each stream with a higher id. */
void h2_stream_report_resets(
	struct h2_conn *h, uint32_t above, uint32_t code, int unprocessed);
/* Sets the length that its body must have, by the head of its message. */
void h2_stream_set_body(struct h2_stream *st, const struct http_head *h);
/* Ends the peer's side: 0, or -1: its body is not as long as its head says. */
int h2_stream_end_rx(struct h2_stream *st) must_check;
/* Reports a head: 0, or -1: the stream has been reset or released. */
int h2_stream_report_head(struct h2_stream *st, struct http_head *h, int end) must_check;
/* Takes n bytes of a body as they are in the input; end: they are the last ones. */
void h2_stream_receive(struct h2_stream *st, const uint8_t *p, size_t n, int end);
/* The peer's WINDOW_UPDATE: it may send if it waits, or fails: its window is beyond 2^31-1. */
void h2_stream_on_window(struct h2_stream *st, uint32_t by);
/* Changes the windows of all streams of a connection, and what the peer may send in them: 0, or
 * -1: one is beyond 2^31-1. */
int h2_stream_open_all(struct h2_conn *h, int64_t send_by, int64_t recv_by) must_check;
/* Notes that the frame that begins ends a stream which was released before its end. */
void h2_stream_note_end(struct h2_conn *h);
/* Lets all streams send that wait for the connection. */
void h2_stream_wake_blocked(struct h2_conn *h);
/* The peer's RST_STREAM. */
void h2_stream_on_rst(struct h2_stream *st, uint32_t code);

#endif
