/*
 * HTTP/2 in a world: the wire of a client, whose script has requests and answers of HTTP/1. Each
 * request is a stream of its own; they are sent as they come in the script, and their answers are
 * given in the same order, each as a whole: field names in lower case, without reason, a body
 * without a length in chunks. A stream that was reset gives the text "RST <code>\n". The text
 * "RST\n" in place of a request resets the last one.
 */
#ifndef TACIT_SIM_H2_WIRE_H
#define TACIT_SIM_H2_WIRE_H

#include "fake/wire.h"

struct wire *h2_wire_new(void);
/* The wire of a server, whose script reads requests of HTTP/1 and says responses, in the same
 * order. "RST 7\n" in place of a response resets its stream with that code, "GOAWAY 1\n" says which
 * stream was the last. max_streams: at once, 0: 100. */
struct wire *h2_origin_wire_new(unsigned int max_streams);
/*
 * The wire of a server's connection whose streams are ends of their own. on_stream gets the wire of
 * each, which gives a request of HTTP/1 and takes its response; the connection frees it.
 * wire_recv() of the connection reads what has arrived: 0 at its end, or -EAGAIN; what streams send
 * leaves with its wire_flush().
 */
struct h2_origin_conf {
	uint32_t max_streams, window; /* 0: the default */
	void (*on_stream)(void *arg, struct wire *stream);
	void *arg;
};
struct wire *h2_streams_wire_new(const struct h2_origin_conf *conf);
/* Gives the socket at most n bytes more. */
void h2_streams_allow(struct wire *w, size_t n);
int h2_streams_have_output(const struct wire *w);
/* True if input waited, and wire_recv() can use it now. */
int h2_streams_have_input(const struct wire *w);
/* Sends GOAWAY: at once, or when the peer has seen a first one. */
void h2_streams_leave(struct wire *w, int at_once);
/* A GOAWAY of which the newest stream hears that nothing was done for it. That one; NULL: none. */
struct wire *h2_streams_drop_newest(struct wire *w);
/* True if a head was sent in the stream. */
int h2_stream_wire_has_said(const struct wire *stream);
/* Its body is to have no more bytes. */
void h2_stream_wire_end(struct wire *stream);
void h2_stream_wire_reset(struct wire *stream, uint32_t code);
/* Sends a frame that is an error of the stream, or of the connection. */
void h2_stream_wire_err(struct wire *stream, int of_connection);
/* The user is done with the stream: the connection frees it when all is sent. */
void h2_stream_wire_release(struct wire *stream);
/* Instead of that text wire_recv() returns -ECANCELED once for each stream that was reset, behind
 * what has arrived of its answer, whose head says where the body ends. */
void h2_wire_report_resets(struct wire *w);
/* Resets the stream of that request, if it is not over. */
void h2_wire_cancel(struct wire *w, struct fake_sock *s, unsigned int nth);
/* Ends our side of a tunnel behind what was sent: 1 when the other side has ended, too. */
int h2_wire_end_tunnel(struct wire *w, struct fake_sock *s);

#endif
