#include "proxy/session/proxy_protocol_in.h"

#include <string.h>

#include "proxy/session/actions.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/memory.h"

/* --- what it comes to --- */

/* HAProxy has one code for all of them. */
static void
blame(struct session *s, enum proxy_header_err err)
{
	s->header_err = (uint8_t)err;
	session_blame(s, 'P', 'R');
}

/* The sender is to notice (proxy-protocol.txt 2.1): an end could be that of an empty stream. */
static void
refuse(struct session *s, enum proxy_header_err err)
{
	blame(s, err);
	conn_reset_on_close(&s->conn[CLIENT]);
	session_event(s, SESSION_EV_DENIED);
}

/* What stands behind the header is what the client has said: it lies where its direction, or the
 * reader of heads, looks for it. Without a buffer it is still with the kernel. */
static void
keep_rest(struct session *s, size_t used)
{
	struct direction *h = &s->dir[CLIENT];
	char *at;

	if (!h->buf)
		return;
	at = h->buf + h->tail;
	h->lookahead -= (uint32_t)used;
	if (!h->lookahead) {
		direction_buf_free(s->engine, h);
		return;
	}
	memmove(at, at + used, h->lookahead);
	direction_count(s, CLIENT, h->lookahead);
	if (s->fe->mode == PROXY_HTTP)
		return;
	h->tail += h->lookahead;
	h->lookahead = 0;
}

/* The header has come. */
static void
go_on(struct session *s, const struct proxy_header *header)
{
	if (header->announces)
		addr_override_proxy_protocol(s, &header->src, &header->dst);
	keep_rest(s, header->len);
	session_begin(s);
}

static void
judge(struct session *s)
{
	struct direction *h = &s->dir[CLIENT];
	struct proxy_header header;

	switch (proxy_header_parse(
		h->buf + h->tail, h->lookahead, s->engine->bufsize - h->tail, &header)) {
	case PROXY_HEADER_MORE:
		return;
	case PROXY_HEADER_BAD:
		refuse(s, header.err);
		return;
	case PROXY_HEADER_WHOLE:
		go_on(s, &header);
		return;
	}
}

/* --- its bytes --- */

/*
 * In mode http what stands behind the header waits in its buffer until there is room for a request.
 * Buffers of such may not be what others need to come to an end: beside the room that http_read.c
 * keeps for a request and for the responses to all, another one stays free.
 */
static int
has_room(struct session *s)
{
	struct engine *e = s->engine;
	uint64_t kept = (uint64_t)e->txn_pool.kept * e->txn_pool.size +
		(uint64_t)e->buf_pool.kept * e->buf_pool.size;
	uint64_t more = e->txn_pool.size + (e->txn_pool.live + 3ull) * e->buf_pool.size;

	if (!memory_has_buffer(e))
		return 0;
	if (s->fe->mode != PROXY_HTTP || !e->max_memory ||
		(!e->txn_pool.live && !e->buf_pool.live))
		return 1;
	return memory_used(e) - kept + more <= e->max_memory;
}

/*
 * Without a buffer the header is looked at where it is, and no more than that is taken. What has
 * come of one that is not whole is left there, and looked at again in a while: `ahead` says that
 * something has come, as the log wants to know it.
 */
static void
look_in_place(struct session *s)
{
	struct engine *e = s->engine;
	struct conn *src = &s->conn[CLIENT];
	struct direction *h = &s->dir[CLIENT];
	struct proxy_header header;
	size_t got;

	switch (conn_peek(src, e->scratch, e->bufsize, &got)) {
	case IO_AGAIN:
		return;
	case IO_OK:
		break;
	case IO_EOF:
	case IO_ERR:
		session_event(s, SESSION_EV_CLIENT_GONE);
		return;
	}
	h->lookahead = (uint32_t)got;
	switch (proxy_header_parse(e->scratch, got, e->bufsize, &header)) {
	case PROXY_HEADER_MORE:
		exchange_wait_for_buffer(s, CLIENT);
		return;
	case PROXY_HEADER_BAD:
		refuse(s, header.err);
		return;
	case PROXY_HEADER_WHOLE:
		h->lookahead = 0;
		break;
	}
	if (conn_take(src, e->scratch, header.len, got < e->bufsize && got == header.len) != IO_OK)
		session_event(s, SESSION_EV_CLIENT_GONE);
	else
		go_on(s, &header);
}

/* One read: 1 when something came. Most likely it is the header, and what the client says first. */
static int
fill(struct session *s)
{
	struct engine *e = s->engine;
	struct direction *h = &s->dir[CLIENT];
	size_t got, at;

	if (!h->buf) {
		if (!has_room(s) || direction_buf_get(e, h) < 0) {
			look_in_place(s);
			return 0;
		}
		h->head = h->tail = s->fe->mode == PROXY_HTTP ? e->maxrewrite : 0;
		h->lookahead = 0;
	}
	at = h->tail + h->lookahead;
	switch (conn_recv(&s->conn[CLIENT], h->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		break;
	case IO_OK:
		h->lookahead += (uint32_t)got;
		return 1;
	case IO_EOF:
	case IO_ERR:
		session_event(s, SESSION_EV_CLIENT_GONE);
		return 0;
	}
	if (!h->lookahead)
		direction_buf_free(e, h);
	return 0;
}

void
proxy_protocol_read(struct session *s)
{
	struct conn *src = &s->conn[CLIENT];

	s->dir[CLIENT].waits_for_buffer = 0;
	while (s->state == SESSION_PROXY_HEADER) {
		if (!((src->err || loop_is_ready(src->loop, src->fd, DIR_R)) && fill(s)))
			return;
		judge(s);
	}
}

void
proxy_protocol_io(struct session *s, uint32_t ev)
{
	if (ev & EV_R)
		proxy_protocol_read(s);
	if (s->state == SESSION_PROXY_HEADER && (ev & EV_ERR) && conn_take_error(&s->conn[CLIENT]))
		session_event(s, SESSION_EV_CLIENT_GONE);
}

/* --- none comes --- */

enum session_event
session_do_proxy_header_timeout(struct session *s)
{
	blame(s, PROXY_HEADER_ERR_LATE);
	return session_do_close(s);
}

enum session_event
session_do_proxy_header_abort(struct session *s)
{
	int failed = s->conn[CLIENT].err != 0, cut = s->dir[CLIENT].lookahead != 0;

	blame(s, failed ? PROXY_HEADER_ERR_FAILED
			: cut   ? PROXY_HEADER_ERR_CUT
				: PROXY_HEADER_ERR_CLOSED);
	if (cut && !failed)
		conn_reset_on_close(&s->conn[CLIENT]);
	return session_do_close(s);
}
