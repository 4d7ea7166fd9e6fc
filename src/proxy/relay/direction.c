/*
 * The pump. Bytes are read into the worker's one scratch buffer and written straight on; only what
 * the sink refuses is copied into a pooled buffer, so a connection at rest owns none. Nothing is
 * read for which there would be no such buffer: without one the bytes are looked at, written, and
 * only what was written is taken. Streams go through a pipe instead: direction_splice.c.
 */
#include "proxy/relay/direction.h"

#include "base/counter.h"
#include "proxy/model/memory.h"

#include "proxy/model/count.h"
#include "proxy/http1/l7_retry.h"
#include "proxy/http1/exchange.h"
#include "proxy/session/tcp_content_rules.h"
#include "proxy/http1/response.h"
#include "proxy/relay/bulk.h"

void
direction_count(struct session *s, int side, size_t n)
{
	struct engine *e = s->engine;

	s->dir[side].bytes += n;
	s->last_ms[side] = loop_now_ms(e->loop);
	if (!s->dir[side].is_bulk)
		e->bulk.others_ms = s->last_ms[side];
	if (side == CLIENT) {
		counter_add(&e->bytes_in, n);
		counter_add(&fe_stat(s)->bytes_in, n);
		s->listener->stat.bytes_in += n;
		if (s->be)
			counter_add(&be_stat(s)->bytes_in, n);
		/* Before it is connected the server may still change: session_do_established(). */
		if (s->connected_ms)
			counter_add(&srv_stat(s)->bytes_in, n);
	} else {
		counter_add(&e->bytes_out, n);
		counter_add(&fe_stat(s)->bytes_out, n);
		s->listener->stat.bytes_out += n;
		counter_add(&be_stat(s)->bytes_out, n);
		counter_add(&srv_stat(s)->bytes_out, n);
	}
}

static int pump_once(struct session *s, int side);

/* The direction's sink takes nothing any more; what that side had sent is still there to be
 * read. */
static void
sink_failed(struct session *s, int side)
{
	int other = !side;

	if (l7_retry_after_loss(s, side))
		return;
	session_note_failure(s, other);
	direction_event(s, side, DIRECTION_EV_SINK_ERR);
	if (s->state == SESSION_REPLY)
		return;
	if (s->dir[other].state != DIRECTION_OPEN) {
		session_side_failed(s, other);
		return;
	}
	while (s->dir[other].state == DIRECTION_OPEN && !direction_has_pending(&s->dir[other]))
		if (!pump_once(s, other))
			return;
}

/* One write of what is in the buffer. */
static enum io_result
send_buf(struct session *s, int side, int more, size_t *put)
{
	struct direction *h = &s->dir[side];
	const char *p = h->buf + h->head;
	size_t n = direction_buffered(h);
	enum io_result r;

	if (h->is_big || !exchange_is_opaque(s, side))
		r = conn_send(&s->conn[!side], p, n, more, put);
	else
		r = zerocopy_send(
			&s->engine->zerocopy, &s->conn[!side], &h->pin, h->buf, p, n, more, put);
	h->head += (uint32_t)*put;
	return r;
}

/* One write of what comes first: the buffer, then the pipe. */
static enum io_result
write_pending(struct session *s, int side)
{
	struct direction *h = &s->dir[side];
	int last = (h->state == DIRECTION_DRAIN && !h->broken) ||
		(h->state == DIRECTION_TAIL && exchange_closes(s, side));
	size_t put;

	if (!direction_buffered(h))
		return direction_splice_out(s, side, last);
	return send_buf(s, side, last, &put);
}

int
direction_flush(struct session *s, int side)
{
	struct direction *h = &s->dir[side];
	struct conn *sink = &s->conn[!side];
	int owed = direction_pending(h) != 0;

	while (direction_pending(h)) {
		enum io_result r = IO_AGAIN;

		if (loop_is_ready(sink->loop, sink->fd, DIR_W))
			r = write_pending(s, side);
		if (r == IO_ERR)
			sink_failed(s, side);
		if (r != IO_OK)
			return 0;
		s->last_ms[!side] = loop_now_ms(s->engine->loop);
	}
	if (h->buf)
		direction_buf_free_if_empty(s->engine, h);
	/* The source was not listened to meanwhile: it has its whole time from now on. */
	if (owed)
		s->last_ms[side] = loop_now_ms(s->engine->loop);
	return 1;
}

/*
 * Sends fresh bytes, keeping what the sink refuses; they are in the direction's buffer or in the
 * scratch buffer. last: the sink's FIN follows. 0, or -1 when the direction is over.
 */
static int
forward(struct session *s, int side, const char *p, size_t n, int last)
{
	struct direction *h = &s->dir[side];
	struct conn *sink = &s->conn[!side];
	int own = p == h->buf;
	size_t put = 0;

	if (loop_is_ready(sink->loop, sink->fd, DIR_W)) {
		enum io_result r = own ? send_buf(s, side, last, &put)
				       : conn_send(sink, p, n, last, &put);

		if (r == IO_ERR) {
			sink_failed(s, side);
			return -1;
		}
		if (put)
			s->last_ms[!side] = loop_now_ms(s->engine->loop);
	}
	if (own && put == n)
		direction_buf_free_if_empty(s->engine, h);
	if (put < n) {
		if (!own)
			direction_buf_append(s->engine, h, p + put, n - put);
		/* Only now has the sink anything to be late with. */
		s->last_ms[!side] = loop_now_ms(s->engine->loop);
	}
	return 0;
}

void
direction_source_ended(struct session *s, int side)
{
	if (s->txn && !exchange_ends_here(s, side)) {
		exchange_cut(s, side);
		return;
	}
	/* client-fin and server-fin count from here. */
	s->last_ms[side] = loop_now_ms(s->engine->loop);
	direction_event(s, side, DIRECTION_EV_SRC_EOF);
	if (!direction_pending(&s->dir[side]))
		direction_event(s, side, DIRECTION_EV_EMPTY);
}

/* Is the sink's FIN to follow these bytes, the last of that step? */
static int
is_last(const struct session *s, int side, enum exchange_step step)
{
	if (s->txn && !exchange_ends_here(s, side))
		return step == EXCHANGE_OVER && exchange_closes(s, side);
	return s->conn[side].eof;
}

/* Sends bytes that are still in the kernel and takes those that were sent. As pump_once(). */
static int
forward_in_place(struct session *s, int side, size_t got, int is_short)
{
	struct engine *e = s->engine;
	struct conn *src = &s->conn[side], *sink = &s->conn[!side];
	struct http_body before = { .framing = HTTP_BODY_NONE };
	enum exchange_step step = EXCHANGE_ON;
	size_t put = 0, n = got;

	if (s->txn)
		step = exchange_look(s, side, e->scratch, &n, &before);
	if (n && loop_is_ready(sink->loop, sink->fd, DIR_W) &&
		conn_send(sink, e->scratch, n, 0, &put) == IO_ERR) {
		sink_failed(s, side);
		return 0;
	}
	if (put < n && s->txn)
		exchange_look_again(s, side, e->scratch, put, &before);
	if (put) {
		s->last_ms[!side] = loop_now_ms(e->loop);
		direction_count(s, side, put);
		bulk_note(s, side, put, e->bufsize);
		if (conn_take(src, e->scratch, put, is_short && put == got) != IO_OK) {
			session_side_failed(s, side);
			return 0;
		}
	}
	if (put < n) {
		s->dir[side].left_in_kernel = 1;
		s->last_ms[!side] = loop_now_ms(e->loop);
		return 0;
	}
	if (step != EXCHANGE_ON)
		exchange_step(s, side, step, NULL, 0);
	else if (src->eof)
		direction_source_ended(s, side);
	return step == EXCHANGE_ON && !src->eof;
}

/* Fresh bytes: those that belong to the message go on. As pump_once(). */
static int
pass_on(struct session *s, int side, char *p, size_t got)
{
	enum exchange_step step = EXCHANGE_ON;
	size_t used = got, out = got;

	if (s->txn)
		step = exchange_parse_body(s, side, p, got, &used, &out);
	/* What is behind the message is not to go with it. */
	if (p == s->dir[side].buf)
		s->dir[side].tail = (uint32_t)out;
	if (out && forward(s, side, p, out, is_last(s, side, step)) < 0)
		return 0;
	if (step != EXCHANGE_ON)
		exchange_step(s, side, step, p + used, got - used);
	else if (s->conn[side].eof)
		direction_source_ended(s, side);
	else
		return !direction_pending(&s->dir[side]);
	return 0;
}

/* One read and what follows from it: 1 when another one is worth trying. */
static int
pump_once(struct session *s, int side)
{
	struct engine *e = s->engine;
	struct direction *h = &s->dir[side];
	struct conn *src = &s->conn[side];
	char *own = NULL, *to = e->scratch;
	enum io_result r;
	size_t got, reach;
	int may_keep;

	if (h->inspects)
		return tcp_content_response(s);
	if (http_awaits_head(s, side))
		return response_read(s);
	if (h->is_bulk && direction_splices(s, side)) {
		int more = direction_splice_once(s, side);

		if (more >= 0)
			return more;
	}
	if (exchange_needs_buf(s, side) && !h->buf && !memory_has_buffer(e)) {
		exchange_wait_for_buffer(s, side);
		return 0;
	}
	may_keep = direction_can_keep(e, h);
	if (may_keep && e->zerocopy.threshold && (own = direction_zc_buf_get(s, side)))
		to = own;
	reach = may_keep && h->is_bulk ? bulk_reach(e, h) : e->bufsize;
	if (s->txn)
		reach = exchange_reach(s, side, reach);
	r = may_keep ? conn_recv(src, to, reach, &got) : conn_peek(src, to, reach, &got);
	if (own && r == IO_OK)
		h->tail = (uint32_t)got;
	else if (own)
		direction_buf_free_if_empty(e, h);
	switch (r) {
	case IO_AGAIN:
		bulk_drained(e, h);
		return 0;
	case IO_EOF:
		direction_source_ended(s, side);
		return 0;
	case IO_ERR:
		session_side_failed(s, side);
		return 0;
	case IO_OK:
		break;
	}
	if (!may_keep)
		return forward_in_place(s, side, got, got < reach);
	direction_count(s, side, got);
	bulk_note(s, side, got, reach);
	return pass_on(s, side, to, got);
}

/* How many bytes cost as much as one that is copied. */
static unsigned int
share(const struct session *s, int side)
{
	return s->dir[side].is_bulk && direction_splices(s, side) ? BULK_SPLICED_SHARE : 1;
}

/* A source of which nothing was wanted while its message was flushed may not have been watched:
 * what is known of it is old, and it is to be looked at before it serves another request. */
static void
suspect(struct conn *src)
{
	struct interest in;
	void *owner;

	if (loop_peek(src->loop, src->fd, &in, &owner) == 0 && !(in.polled & EV_R))
		loop_presume_ready(src->loop, src->fd, DIR_R);
}

static void
pump(struct session *s, int side)
{
	struct direction *h = &s->dir[side];
	struct conn *src = &s->conn[side];
	struct engine *e = s->engine;
	unsigned int reads = e->max_reads;
	uint64_t most = h->is_bulk ? MAX(bulk_turn(e), 1) : (uint64_t)reads * e->bufsize;
	uint64_t upto = h->bytes + most * share(s, side);

	if ((h->buf || h->pipe) && !direction_flush(s, side))
		return;
	if (h->left_in_kernel && !loop_is_ready(s->conn[!side].loop, s->conn[!side].fd, DIR_W))
		return;
	h->left_in_kernel = 0;
	if (h->state != DIRECTION_OPEN) {
		if (h->state == DIRECTION_TAIL && side == SERVER)
			suspect(src);
		direction_event(s, side, DIRECTION_EV_EMPTY);
		return;
	}
	if (response_resume(s, side) && direction_pending(h))
		return;
	/* After an error there may be no event that would tell of what is left. */
	while (reads-- > 0 && h->bytes < upto && h->state == DIRECTION_OPEN)
		if (!((src->err || loop_is_ready(src->loop, src->fd, DIR_R)) && pump_once(s, side)))
			return;
}

void
direction_pump_now(struct session *s, int side)
{
	struct direction *h = &s->dir[side];
	uint64_t before = h->bytes, owed = direction_pending(h), in, out;
	unsigned int per;

	if (direction_is_over(h))
		return;
	per = share(s, side);
	bulk_leave(h);
	pump(s, side);
	in = h->bytes - before;
	out = in + owed - direction_pending(h);
	if (h->is_bulk)
		bulk_used(s->engine, MAX(in, out) / MAX(per, share(s, side)));
}

void
direction_pump(struct session *s, int side)
{
	if (!s->dir[side].is_bulk || bulk_has_turn(s, side))
		direction_pump_now(s, side);
}

void
direction_collect(struct session *s)
{
	struct direction *h = &s->dir[CLIENT];
	struct conn *src = &s->conn[CLIENT];
	struct engine *e = s->engine;
	size_t got;
	int may_keep;

	if (h->state != DIRECTION_OPEN || !direction_has_room(e, h) ||
		!loop_is_ready(src->loop, src->fd, DIR_R))
		return;
	may_keep = direction_can_keep(e, h);
	switch (may_keep ? conn_recv(src, e->scratch, e->bufsize - h->tail, &got)
			 : conn_peek(src, e->scratch, 1, &got)) {
	case IO_AGAIN:
		return;
	case IO_OK:
		if (!may_keep) {
			/* It stays there until the server's side is up. */
			h->left_in_kernel = 1;
			return;
		}
		direction_count(s, CLIENT, got);
		direction_buf_append(e, h, e->scratch, got);
		if (src->eof)
			direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
		return;
	case IO_EOF:
		direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
		return;
	case IO_ERR:
		session_side_failed(s, CLIENT);
		return;
	}
}

int
direction_speculative_send(struct session *s)
{
	struct direction *h = &s->dir[CLIENT];
	struct conn *sink = &s->conn[SERVER];
	size_t put;
	int near;

	if (!direction_pending(h) || !loop_is_ready(sink->loop, sink->fd, DIR_W))
		return 0;
	switch (conn_send(
		sink, h->buf + h->head, direction_buffered(h), h->state == DIRECTION_DRAIN, &put)) {
	case IO_OK:
		h->head += (uint32_t)put;
		near = 1;
		break;
	case IO_AGAIN:
		near = 0;
		break;
	case IO_EOF:
	case IO_ERR:
	default:
		return -1;
	}
	server_note_near(srv_shard(s, s->srv), near);
	return near;
}
