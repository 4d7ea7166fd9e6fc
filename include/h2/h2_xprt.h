/*
 * A stream of HTTP/2 as the transport of a connection (net/conn_stream.h): its user reads and
 * writes messages as HTTP/1 frames them, and need not know that they are frames. Bodies with a
 * Content-Length are the same bytes; others have chunks and trailers (RFC 9112, 7), which are made
 * and removed here, where the bytes are copied between frames and the user's buffer anyway.
 *
 * For a client's stream the head of the request is not among the bytes: it arrives as data
 * (h2_user.on_request). What the user writes is a response, with its head. For a server's stream
 * the user writes a request and reads a response, both with their heads.
 *
 * On the worker that owns the connection below.
 */
#ifndef TACIT_H2_H2_XPRT_H
#define TACIT_H2_H2_XPRT_H

#include "base/sbuf.h"
#include "h2/h2_carrier.h"
#include "h2/h2_conn.h"
#include "http/h1_body.h"
#include "http/websocket.h"
#include "net/conn_stream.h"

/* Room for the line of a chunk, or its end. */
#define H2_XPRT_LINE 24

struct h2_xprt {
	struct conn_stream link;   /* conn.xprt */
	struct h2_stream st;
	struct h2_carrier *carrier;
	struct list chain;         /* carrier->streams */
	struct http_head *given;   /* a response that has arrived before that text; NULL: none */
	size_t given_size;
	/* Its user reads the text of heads, then lines and bytes of the body, then the text
	 * of trailers. */
	struct sbuf text;
	size_t text_at, heads_n;   /* given so far; of it: heads */
	uint64_t left;             /* bytes of the body before the next line */
	enum http_framing framing; /* of that body */
	char line[H2_XPRT_LINE];
	uint8_t line_at, line_n;
	uint8_t is_read;           /* the end of the message was given */
	/* Its user writes: */
	uint8_t is_begun;          /* st is a stream of the connection */
	uint8_t head_sent;         /* the final head */
	uint8_t end_sent;          /* END_STREAM, or a reset */
	uint8_t drops_output;      /* writes succeed and are dropped: the response is complete */
	uint8_t awaits_room;       /* to begin: counted in carrier->n_waiting */
	uint8_t has_accept;        /* a websocket in HTTP/1 was asked for: */
	char accept[WEBSOCKET_ACCEPT_LEN]; /* the answer to its key */
	enum http_method method;   /* of the request */
	struct h1_body out;        /* the body after that head */
	struct sbuf trailers;      /* their text, while it is written */
	size_t counted;            /* bytes of it, of text and of given: in h2_shared.bytes */
};

/*
 * Opens c, which is closed, as a stream that the carrier has room for (h2_carrier_has_room()), or
 * has got a request for: 0 or -ERR_NOMEM. req: the request that has arrived, NULL: the user writes
 * it.
 */
int h2_xprt_open(struct h2_carrier *k, struct conn *c, loop_fd_fn *fn, void *owner,
	const struct http_head *req, struct h2_xprt **out) must_check;

/* Keeps the answer to the key of a websocket, which only the side of HTTP/1 sees: req has it. */
void h2_xprt_keep_accept(struct h2_xprt *x, const struct http_head *req);
/* True if a response of HTTP/1 that agrees to a websocket has the answer to the key that was made
 * for this client; also if none was made. */
int h2_xprt_agrees(const struct conn *client, const struct http_head *res);

/* Sends the head of a response on a client's stream as data, so that its text need not be written
 * and parsed. 0, or negative: nothing was sent; as text it may be sent later, or fails. */
int h2_xprt_respond(struct conn *c, const struct http_head *res) must_check;

/* The head of a server's response, where it is the next that would be read: its texts are copied to
 * room bytes at `to`, *n of them. 0, or negative: there is none, or it does not fit: its text is
 * read. */
int h2_xprt_take_head(struct conn *c, struct http_head *h, char *to, size_t room, size_t *n)
	must_check;

/* --- for h2_carrier.c --- */

/* More of the body, or its end, has arrived. */
void h2_xprt_on_data(struct h2_xprt *x);
/* A server's head, or trailers of either side: their text is kept. end: nothing follows. 0, or a
 * negative reason. */
int h2_xprt_on_head(struct h2_xprt *x, struct http_head *h, int end) must_check;
void h2_xprt_on_room(struct h2_xprt *x);
/* The client sends no more: behind a complete request its end follows, another one has failed. */
void h2_xprt_on_shut(struct h2_xprt *x);
/* The peer has reset it, or the connection is lost; unprocessed: nothing was done for its request
 * (RFC 9113, 8.7). */
void h2_xprt_on_reset(struct h2_xprt *x, int unprocessed);

/* Reports each transport that could not begin its stream: its server may allow more now. */
void h2_carrier_wake(struct h2_carrier *k);

extern const struct xprt_ops h2_xprt_ops;

/* Returns the stream that carries an open connection; NULL: it has another transport, such as that
 * of a subrequest. */
static inline const struct h2_xprt *
h2_xprt_below(const struct conn *c)
{
	const struct conn_stream *link = conn_is_stream(c) ? conn_stream_of(c) : NULL;

	if (!link || link->x.ops != &h2_xprt_ops)
		return NULL;
	return container_of(link, struct h2_xprt, link);
}

/* 1 + the code of the RST_STREAM with which the peer has ended such a stream, 0: it has not. */
static inline uint64_t
h2_rst_of(const struct conn *c)
{
	const struct h2_xprt *x = h2_xprt_below(c);

	return x && x->st.has_rst ? 1 + (uint64_t)x->st.rst_code : 0;
}

/* The transport that carries it. */
static inline struct h2_xprt *
h2_xprt_of(struct h2_stream *st)
{
	return container_of(st, struct h2_xprt, st);
}

#endif
