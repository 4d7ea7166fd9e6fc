/* State PROXY_HEADER: reads a PROXY header. On the session's worker; bytes after the
 * header stay in the buffer for the next state. */
#include "proxy/session/proxy_protocol_in.h"

#include <string.h>

#include "proxy/session/client_handshake.h"
#include "proxy/session/session_admit.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "net/xprt.h"
#include "base/err.h"
#include "proxy/model/memory.h"

/* --- the results --- */

/* The sender must notice (proxy-protocol.txt 2.1): a FIN could be that of an empty stream. */
static enum session_event
refuse_header(struct stream *s, enum conn_err err)
{
	session_set_conn_err(s->sess, err);
	conn_reset_on_close(s->conn[CLIENT]);
	return SESSION_EV_DENIED;
}

/* Data after the header is the client's: it is left where its direction, or the parser of heads,
 * expects it. Without a buffer it is still in the kernel. */
static void
keep_after_header(struct stream *s, size_t used)
{
	struct direction *d = &s->dir[CLIENT];
	char *at;

	if (!d->buf)
		return;
	at = d->buf + d->tail;
	d->lookahead -= (uint32_t)used;
	if (!d->lookahead) {
		direction_buf_free(s->engine, d);
		return;
	}
	memmove(at, at + used, d->lookahead);
	direction_count(s, CLIENT, d->lookahead);
	if (s->is_http)
		return;
	d->tail += d->lookahead;
	d->lookahead = 0;
}

/* Its bytes come next on the socket, after a PROXY header: the event that follows. */
static enum session_event
client_handshake_begin(struct session *sess)
{
	struct stream *s = &sess->stream;
	int r = conn_begin_xprt(
		&sess->conn, s->engine->hooks.on_client_io, s, sess->listener->xprt);

	if (r == 0)
		return SESSION_EV_AWAIT_CLIENT_HANDSHAKE;
	session_set_conn_err(
		sess, r == -ERR_FULL ? CONN_ERR_TLS_TOO_MANY : CONN_ERR_TLS_NOMEM);
	return SESSION_EV_DENIED;
}

/* The header is complete. */
static enum session_event
accept_header(struct stream *s, const struct proxy_header *header)
{
	if (header->announces)
		addr_override_proxy_protocol(s, &header->src, &header->dst);
	addr_override_keep_tlvs(s, header->tlvs);
	keep_after_header(s, header->len);
	s->sess->has_header = 1;
	return s->sess->listener->xprt ? client_handshake_begin(s->sess)
				       : session_admit_again(s->sess);
}

static enum session_event
parse_proxy_header(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct proxy_header header;

	switch (proxy_header_parse(
		d->buf + d->tail, d->lookahead, s->engine->bufsize - d->tail, &header)) {
	case PROXY_HEADER_MORE:
		break;
	case PROXY_HEADER_BAD:
		return refuse_header(s, header.err);
	case PROXY_HEADER_WHOLE:
		return accept_header(s, &header);
	}
	return SESSION_EV_NONE;
}

/* --- its bytes --- */

/* 0: there is no memory. */
static int
get_header_buffer(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	if (!memory_reserve_client_buffer(s) || direction_buf_get(s->engine, d) < 0)
		return 0;
	d->head = d->tail = s->is_http ? s->engine->limits.maxrewrite : 0;
	d->lookahead = 0;
	return 1;
}

/*
 * All bytes that were peeked at are the header's, and more follow. They are taken out of the
 * kernel, since the stream's end is seen behind them only.
 */
static enum session_event
keep_partial_header(struct stream *s, const char *part, size_t len, int drained)
{
	struct direction *d = &s->dir[CLIENT];
	uint32_t all = d->lookahead;
	char *at;

	if (!d->buf && !get_header_buffer(s)) {
		direction_wait_for_buffer(s, CLIENT);
		return SESSION_EV_NONE;
	}
	d->lookahead = all;
	at = d->buf + d->tail + all - len;
	if (at != part)
		memcpy(at, part, len);
	return conn_take(s->conn[CLIENT], at, len, drained) == IO_OK ? SESSION_EV_NONE
								      : SESSION_EV_CLIENT_GONE;
}

/*
 * The header is peeked at in the kernel, and only the header is consumed. Its earlier bytes are in
 * the buffer; without one there is nothing, or no memory, and it is peeked at again later.
 */
static enum session_event
look_in_place(struct stream *s)
{
	struct engine *e = s->engine;
	struct conn *src = s->conn[CLIENT];
	struct direction *d = &s->dir[CLIENT];
	char *head = d->buf ? d->buf + d->tail : e->scratch;
	size_t size = d->buf ? e->bufsize - d->tail : e->bufsize, had = d->buf ? d->lookahead : 0;
	struct proxy_header header;
	size_t got;
	int is_short;

	switch (conn_peek(src, head + had, size - had, &got)) {
	case IO_AGAIN:
		return SESSION_EV_NONE;
	case IO_OK:
		break;
	case IO_EOF:
	case IO_ERR:
		return SESSION_EV_CLIENT_GONE;
	}
	is_short = got < size - had;
	d->lookahead = (uint32_t)(had + got); /* also for the log: something has arrived */
	switch (proxy_header_parse(head, had + got, size, &header)) {
	case PROXY_HEADER_MORE:
		return keep_partial_header(s, head + had, got, is_short);
	case PROXY_HEADER_BAD:
		return refuse_header(s, header.err);
	case PROXY_HEADER_WHOLE:
		break;
	}
	if (conn_take(src, head + had, header.len - had, is_short && had + got == header.len) !=
		IO_OK)
		return SESSION_EV_CLIENT_GONE;
	d->lookahead = d->buf ? (uint32_t)header.len : 0;
	return accept_header(s, &header);
}

/* One read; *more: data arrived. It is probably the header with the client's first data. */
static enum session_event
read_header(struct stream *s, int *more)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[CLIENT];
	size_t got, at;

	*more = 0;
	/* Bytes behind the header are for the transport, and stay in the kernel. */
	if (s->sess->listener->xprt)
		return look_in_place(s);
	if (!d->buf && !get_header_buffer(s)) {
		if (conn_can(s->conn[CLIENT], XPRT_PEEK))
			return look_in_place(s);
		direction_wait_for_buffer(s, CLIENT);
		return SESSION_EV_NONE;
	}
	at = d->tail + d->lookahead;
	switch (conn_recv(s->conn[CLIENT], d->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		break;
	case IO_OK:
		d->lookahead += (uint32_t)got;
		*more = 1;
		return SESSION_EV_NONE;
	case IO_EOF:
	case IO_ERR:
		return SESSION_EV_CLIENT_GONE;
	}
	if (!d->lookahead)
		direction_buf_free(e, d);
	return SESSION_EV_NONE;
}

enum session_event
proxy_protocol_read(struct session *sess)
{
	struct stream *s = &sess->stream;
	struct conn *src = &sess->conn;
	enum session_event ev = SESSION_EV_NONE;
	int more = 1;

	s->dir[CLIENT].waits_for_buffer = 0;
	while (ev == SESSION_EV_NONE && more && (src->err || conn_is_ready(src, DIR_R))) {
		ev = read_header(s, &more);
		if (more)
			ev = parse_proxy_header(s);
	}
	return ev;
}
