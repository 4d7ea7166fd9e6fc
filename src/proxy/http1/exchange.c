/* Finds the ends of the bodies of one exchange. On the session's worker; no byte behind a message
 * is forwarded with it. */
#include "proxy/http1/exchange.h"

#include <string.h>

#include "base/err.h"
#include "http/hop.h"
#include "net/conn_stream.h"
#include "proxy/model/count.h"
#include "proxy/model/filter.h"
#include "proxy/http1/note_invalid.h"
#include "proxy/backend/server_observe.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/model/http_count.h"
#include "proxy/model/memory.h"
#include "base/counter.h"
#include "proxy/relay/relay_ops.h"

/* --- retries of requests --- */

/* True if the client still accepts a response. */
static int
client_is_there(const struct stream *s)
{
	return s->dir[SERVER].state == DIRECTION_OPEN;
}

static enum stream_event
schedule_retry(struct stream *s)
{
	if (!s->dir[CLIENT].keeps_buf || !client_is_there(s) ||
		s->retries >= stream_retries_most(s))
		return STREAM_EV_NONE;
	s->retries++;
	counter_add(&be_stat(s)->wretr, 1);
	counter_add(&srv_stat(s)->wretr, 1);
	return STREAM_EV_L7_RETRY;
}

/* True if the request may be repeated although the server may have processed it. */
static int
repeats_processed(const struct stream *s)
{
	return !s->txn->no_l7_retry && exchange_has_request(s->txn);
}

enum stream_event
l7_retry_for(struct stream *s, enum http_retry what)
{
	if (what != HTTP_RETRY_CONN_FAILURE && !repeats_processed(s))
		return STREAM_EV_NONE;
	return http_retries(s->be, what) ? schedule_retry(s) : STREAM_EV_NONE;
}

enum stream_event
l7_retry_for_status(struct stream *s, unsigned int status)
{
	return http_retries_status(s->be, status) && repeats_processed(s) ? schedule_retry(s)
									  : STREAM_EV_NONE;
}

int
l7_retry_can_replay(const struct stream *s)
{
	if (s->srv->may_speak_h2)
		return stream_retries_most(s) && !stream_filtering(s, CLIENT);
	return stream_retries_most(s) && exchange_has_request(s->txn) &&
		(s->txn->reused ||
			(!s->txn->no_l7_retry &&
				(s->be->http.retry_on & ~(1u << HTTP_RETRY_CONN_FAILURE))));
}

/* Writing the request to the server failed: the event that follows if the request can be retried,
 * else NONE. side: the direction that failed, CLIENT. */
static enum stream_event
l7_retry_after_loss(struct stream *s, int side)
{
	const struct relay_ops *ops = s->dir[!side].ops;

	if (s->state != STREAM_RELAY || !http_awaits_head(s, SERVER) || !client_is_there(s) ||
		!s->dir[CLIENT].keeps_buf)
		return STREAM_EV_NONE;
	/* The server may have responded before it closed: the response is forwarded. */
	return ops->read ? ops->read(s, !side).ev : STREAM_EV_NONE;
}

int
l7_retry_is_left_to_client(const struct stream *s)
{
	return s->txn->reused && s->sess->requests > 1 && !s->is_carried &&
		!s->dir[SERVER].bytes && client_is_there(s);
}

enum stream_event
exchange_fail(struct stream *s, unsigned int status, char cause, char phase)
{
	stream_set_term(s, cause, phase);
	s->txn->status = status;
	/* A client that accepts no more data gets no reply. */
	return s->state != STREAM_RELAY || s->dir[SERVER].state == DIRECTION_OPEN
		? STREAM_EV_ANSWER
		: STREAM_EV_NONE;
}

/*
 * True if the next bytes_left() bytes from that side are payload that is only forwarded, so that
 * they need not be read into user space. Always true in mode tcp.
 */
static int
body_is_opaque(const struct stream *s, int side)
{
	const struct direction *d = &s->dir[side];

	if (exchange_is_plain(s))
		return 1;
	/* These bytes share a buffer with data to be kept or parsed. */
	if (d->keeps_buf || d->lookahead || (side == SERVER && !http_has_answer(s->txn)))
		return 0;
	return s->txn->h1[side]->body.framing == HTTP_BODY_LENGTH ||
		s->txn->h1[side]->body.framing == HTTP_BODY_CLOSE;
}

/* Number of bytes left of that side's message, if it is known; UINT64_MAX otherwise. */
static uint64_t
bytes_left(const struct stream *s, int side)
{
	const struct h1_body *b = s->txn ? &s->txn->h1[side]->body : NULL;

	return b && b->framing == HTTP_BODY_LENGTH ? b->left : UINT64_MAX;
}

void
exchange_foresee(struct stream *s, int side)
{
	uint64_t left = bytes_left(s, side);

	if (left < UINT64_MAX)
		bulk_expect(s, side, left);
}

int
exchange_has_request(const struct http_txn *t)
{
	return t->head_ms && h1_body_is_over(&t->h1[CLIENT]->body);
}

int
exchange_needs_lingering_close(struct stream *s)
{
	const struct http_txn *t = s->txn;
	struct conn *c = s->conn[CLIENT];
	size_t got;
	char byte;

	/* A stream of HTTP/2 is reset without harm to what was sent. */
	if (http_keeps(t, CLIENT) || c->eof || c->err || c->shut || s->is_carried)
		return 0;
	if (s->dir[CLIENT].lookahead || t->client_sent_more)
		return 1;
	if (!t->persists)
		return 0;
	/* Without peek the byte is lost, which is harmless: the connection is about to be
	 * closed. */
	if ((conn_can(c, XPRT_PEEK) ? conn_peek(c, &byte, 1, &got)
				    : conn_recv(c, &byte, 1, &got)) == IO_OK)
		return 1;
	/* A short response has been sent. The kernel may hold most of a long one, and unread data
	 * from the client would cause a reset. */
	return !c->eof && !c->err && s->dir[SERVER].bytes > s->engine->bufsize &&
		conn_unsent(c) > 0;
}

int
http_is_cut(const struct stream *s, int side)
{
	const struct http_txn *t = s->txn;

	if (!t || exchange_is_tunnel(t))
		return 0;
	return side == CLIENT ? !exchange_has_request(t) : http_response_is_cut(t);
}

/* --- bodies --- */

size_t
exchange_reach(const struct stream *s, int side, size_t room)
{
	const struct h1_body *b = &s->txn->h1[side]->body;

	/* Data after it stays in the kernel and is the next message. After a response there is no
	 * more, as a short read shows. */
	if (b->framing == HTTP_BODY_LENGTH && b->left < room)
		return (size_t)b->left + (side == SERVER);
	/* There may be some, which must be kept where a head belongs. */
	if (side == CLIENT && b->framing == HTTP_BODY_CHUNKED)
		return MIN(room, (size_t)(s->engine->bufsize - s->engine->limits.maxrewrite));
	return room;
}

/* Bytes decoded earlier have overwritten their framing. */
static void
note_bad_body(const struct stream *s, int side, const char *p, size_t n, size_t decoded)
{
	s->txn->h1[side]->body.bad_at -= (uint32_t)decoded;
	http_note_invalid_body(s, side, p + decoded, n - decoded);
}

/* p NULL: the bytes were not parsed. */
static enum relay_status
body_step(struct stream *s, int side, char *p, size_t got, size_t *used, size_t *out)
{
	struct http_txn *t = s->txn;
	struct h1_body *b = &t->h1[side]->body;
	long n = (long)got;

	*used = *out = got;
	if (b->framing == HTTP_BODY_TUNNEL)
		return RELAY_ON;
	if (!p) {
		h1_body_skip(b, got);
	} else if (side == SERVER && t->res_body == HTTP_RES_BODY_DECHUNKED) {
		/* An HTTP/1.0 client does not know chunks. */
		n = h1_body_decode(b, p, p, got, used, out);
	} else {
		n = got ? h1_body_take(b, p, got) : 0;
		*used = *out = n < 0 ? 0 : (size_t)n;
	}
	if (side == SERVER && t->res_body == HTTP_RES_BODY_DROPPED)
		*out = 0;
	if (n < 0) {
		note_bad_body(s, side, p, got, *used);
		return RELAY_BAD;
	}
	return h1_body_is_over(b) ? RELAY_OVER : RELAY_ON;
}

/* True if the message ends with its connection. */
static int
ends_with_source(const struct stream *s, int side)
{
	const struct http_txn *t = s->txn;

	if (exchange_is_tunnel(t))
		return 1;
	return side == SERVER && t->h1[SERVER]->body.framing == HTTP_BODY_CLOSE;
}

/* If framing is removed peeking is not enough. Invalid data is left to body_step(). */
static size_t
body_look(const struct stream *s, int side, const char *p, size_t n)
{
	struct h1_body b = s->txn->h1[side]->body;
	long used;

	if (b.framing == HTTP_BODY_TUNNEL)
		return n;
	if (side == SERVER && s->txn->res_body == HTTP_RES_BODY_DECHUNKED)
		return 0;
	if (!p)
		return 1;
	used = h1_body_take(&b, p, n);
	return used < 0 ? 0 : (size_t)used;
}

/* Bytes after the end of a message: the next request, or invalid data of a server. rest NULL: they
 * are still in the kernel. */
static void
keep_rest(struct stream *s, int side, const char *rest, size_t n)
{
	struct direction *d = &s->dir[side];

	if (side == SERVER) {
		http_close_after(s->txn, SERVER);
		return;
	}
	if (!rest)
		return;
	if ((!d->buf && !memory_reserve_buffer(s->engine)) || direction_buf_get(s->engine, d) < 0) {
		/* They were read but cannot be stored: this was the last request. */
		http_close_after(s->txn, CLIENT);
		return;
	}
	assert(d->tail + d->lookahead + n <= s->engine->bufsize);
	memcpy(d->buf + d->tail + d->lookahead, rest, n);
	d->lookahead += (uint32_t)n;
}

enum stream_event
exchange_reject_body(struct stream *s, int side)
{
	struct http_txn *t = s->txn;

	http_close_both_after(t);
	if (side == CLIENT) {
		count_failed_req(s);
		if (!http_has_answer(t))
			return exchange_fail(s,
				http_bad_status((enum http_bad)t->h1[CLIENT]->body.bad), 'P', 'R');
	} else {
		http_count_bad_response(s);
		server_observe(s->engine, s->srv, SERVER_BAD_HEAD);
	}
	stream_set_term(s, 'P', 'D');
	direction_event(s, side, DIRECTION_EV_SRC_ERR);
	direction_notify_if_empty(s, side);
	return STREAM_EV_NONE;
}

/* The source has closed before the end of the message: the direction is broken. */
static void
message_cut(struct stream *s, int side)
{
	http_close_both_after(s->txn);
	if (side == CLIENT) {
		direction_side_failed(s, CLIENT);
		return;
	}
	stream_note_failure(s, SERVER);
	direction_event(s, SERVER, DIRECTION_EV_SRC_ERR);
	if (!direction_pending(&s->dir[SERVER]))
		direction_event(s, SERVER, DIRECTION_EV_EMPTY);
}

static enum stream_event
body_end(struct stream *s, int side, enum relay_status status, const char *rest, size_t n)
{
	switch (status) {
	case RELAY_ON:
		break;
	case RELAY_BAD:
		return exchange_reject_body(s, side);
	case RELAY_OVER:
		if (n)
			keep_rest(s, side, rest, n);
		direction_event(s, side, DIRECTION_EV_MSG_END);
		direction_notify_if_empty(s, side);
		break;
	case RELAY_EOF:
		if (ends_with_source(s, side))
			direction_source_ended(s, side);
		else
			message_cut(s, side);
		break;
	}
	return STREAM_EV_NONE;
}

int
exchange_take_ahead(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	size_t used, out, n = d->lookahead;
	char *p = d->buf + d->tail;
	enum relay_status status;

	status = body_step(s, side, p, n, &used, &out);
	if (status == RELAY_BAD)
		return -1;
	/* Removing framing leaves a gap; only the end of the message follows it. */
	d->tail += (uint32_t)out;
	d->lookahead = (uint32_t)(n - used);
	if (side == SERVER && d->lookahead) {
		http_close_after(s->txn, SERVER);
		d->lookahead = 0;
	}
	if (status == RELAY_OVER)
		direction_event(s, side, DIRECTION_EV_MSG_END);
	return 0;
}

/* True if the client's connection is closed after that response. */
static int
closes_client(const struct stream *s, int side)
{
	return side == SERVER && !http_keeps(s->txn, CLIENT) && exchange_has_request(s->txn);
}

static int
body_closes(const struct stream *s, int side, int over)
{
	return ends_with_source(s, side) ? s->conn[side]->eof : over && closes_client(s, side);
}

static uint64_t
body_opaque(const struct stream *s, int side)
{
	/* The unsent rest of a complete body needs no parsing either. */
	return body_is_opaque(s, side) ? MAX(bytes_left(s, side), 1) : 0;
}

uint64_t
exchange_opaque_none(const struct stream *s, int side)
{
	(void)s;
	(void)side;
	return 0;
}

static int
reply_closes(const struct stream *s, int side, int over)
{
	return over && closes_client(s, side);
}

const struct relay_ops http_request_ops = {
	.opaque = body_opaque,
	.reach = exchange_reach,
	.look = body_look,
	.step = body_step,
	.end = body_end,
	.closes = body_closes,
	.fail = l7_retry_after_loss,
};

const struct relay_ops http_body_ops = {
	.opaque = body_opaque,
	.reach = exchange_reach,
	.look = body_look,
	.step = body_step,
	.end = body_end,
	.closes = body_closes,
};

const struct relay_ops http_reply_ops = {
	.opaque = exchange_opaque_none,
	.closes = reply_closes,
};

/* --- before there is a server --- */

enum stream_event
exchange_collect(struct stream *s)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[CLIENT];
	struct conn *src = s->conn[CLIENT];
	enum stream_event ev = STREAM_EV_NONE;
	size_t got, at = d->tail + d->lookahead;

	if (d->state != DIRECTION_OPEN || at >= e->bufsize ||
		!conn_is_ready(src, DIR_R))
		return ev;
	switch (conn_recv(src, d->buf + at, exchange_reach(s, CLIENT, e->bufsize - at), &got)) {
	case IO_AGAIN:
		return ev;
	case IO_OK:
		direction_count(s, CLIENT, got);
		d->lookahead += (uint32_t)got;
		if (unlikely(stream_filtering(s, CLIENT)))
			return ev;
		if (exchange_take_ahead(s, CLIENT) < 0)
			ev = exchange_reject_body(s, CLIENT);
		if (!src->eof || d->state != DIRECTION_OPEN)
			return ev;
		/* fall through */
	case IO_EOF:
	case IO_ERR:
	default:
		message_cut(s, CLIENT);
		return ev;
	}
}

/* --- a request that a server of HTTP/2 may refuse before its end --- */

/* Sends no more from the buffer than what is in it. */
static void
end_copy(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	d->ops = &http_request_ops;
	d->keeps_buf = 0;
	if (d->buf && !direction_pending(d))
		direction_buf_free_if_empty(s->engine, d);
	exchange_foresee(s, CLIENT);
}

/* Reads behind what was sent, which may have to be sent again. As pass_final() in response.c. */
static struct io_step
read_copied(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct conn *src = s->conn[side];
	enum stream_event ev;
	struct io_step step;

	if (!d->keeps_buf || d->tail >= s->engine->bufsize) {
		end_copy(s);
		return io_more(1);
	}
	/* A send to it has failed, which no event need have reported. */
	if (src->err)
		conn_presume_ready(src, DIR_R);
	ev = exchange_collect(s);
	if (ev != STREAM_EV_NONE)
		return io_event(ev);
	step = direction_flush(s, side);
	if (step.more && d->state != DIRECTION_OPEN) {
		direction_event(s, side, DIRECTION_EV_EMPTY);
		return io_stop();
	}
	/* sink_failed() reads as long as there is more. */
	step.more = step.more && conn_is_ready(src, DIR_R);
	return step;
}

const struct relay_ops http_copied_request_ops = {
	.read = read_copied,
	.opaque = body_opaque,
	.closes = body_closes,
	.fail = l7_retry_after_loss,
};

int
exchange_awaits_response(const struct stream *s)
{
	const struct direction *d = &s->dir[CLIENT];

	return !d->lookahead && !s->txn->client_sent_more && !http_has_answer(s->txn) &&
		!s->txn->held_ms && (d->state == DIRECTION_TAIL || d->state == DIRECTION_DONE);
}

/* Without peek the client's data is read ahead. When there is no room for it the client is no
 * longer watched. */
static enum io_result
read_ahead(struct stream *s)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[CLIENT];
	size_t got, at = d->tail + d->lookahead;
	int is_new = !d->buf;
	enum io_result r;

	if (d->buf ? d->is_big || d->is_wide || d->pin || at >= e->bufsize
		   : !memory_reserve_buffer(e) || direction_buf_get(e, d) < 0)
		return IO_OK;
	/* A request is moved to leave room for tune.maxrewrite. */
	r = conn_recv(s->conn[CLIENT], d->buf + at,
		e->bufsize - MAX(at, e->limits.maxrewrite), &got);
	d->lookahead += (uint32_t)got;
	/* Another one may hold the head of a request that waits for a server. */
	if (is_new)
		direction_buf_free_if_empty(e, d);
	return r;
}

int
exchange_client_left(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];
	size_t got;
	char byte;

	if (!exchange_watches_client(s) || !conn_is_ready(c, DIR_R))
		return 0;
	switch (conn_can(c, XPRT_PEEK) ? conn_peek(c, &byte, 1, &got) : read_ahead(s)) {
	case IO_OK:
		s->txn->client_sent_more = 1;
		return 0;
	case IO_AGAIN:
		return 0;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return 1;
}
