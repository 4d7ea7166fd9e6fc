/* The pump, on the session's worker. Bytes in the scratch buffer are written straight on; what the
 * sink refuses is kept in a pooled buffer, or, without one, left in the kernel. The written bytes
 * are a prefix of the read ones. */
#include "proxy/relay/direction.h"

#include <errno.h>

#include "base/counter.h"
#include "proxy/model/memory.h"

#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "net/splice.h"

/* --- splicing: whether the next read may use a pipe --- */

/* Number of following bytes that need no parsing. */
static uint64_t
opaque_bytes(const struct stream *s, int side)
{
	const struct relay_ops *ops = s->dir[side].ops;

	return ops->opaque ? ops->opaque(s, side) : UINT64_MAX;
}

/* True if the next read uses a pipe. */
static int
direction_splices(const struct stream *s, int side)
{
	const struct direction *d = &s->dir[side];

	return d->is_bulk && !d->no_splice && s->engine->pipes.max &&
		opaque_bytes(s, side) &&
		(proxy_splice(s->sess->fe, s->be) & (OPT_SPLICE_AUTO | bulk_splice_option(side))) &&
		splice_can(s->conn[CLIENT], s->conn[SERVER]);
}

static struct h1_stat *
h1_of(const struct stream *s, int side)
{
	return side == CLIENT ? &fe_stat(s)->h1 : &be_stat(s)->h1;
}

/* Splicing is not supported here: this direction copies from now on. */
static void
stop_splicing(struct engine *e, struct direction *d)
{
	d->no_splice = 1;
	counter_add(&e->stat.splice_fallbacks, 1);
}

/* This many bytes were taken out of it. */
static void
direction_pipe_took(struct engine *e, struct direction *d, size_t n)
{
	counter_sub(&e->pipes.bytes, n);
	memory_watch(e);
	if (d->pipe->bytes)
		return;
	direction_pipe_put(e, d->pipe);
	d->pipe = NULL;
}

/*
 * Reads the contents of the pipe, a buffer at a time. 0, or -1: no memory. The data was received
 * already, so this may exceed tune.memory by at most a buffer per pipe.
 */
static int
read_out(struct engine *e, struct direction *d)
{
	long r;

	if (direction_buf_get(e, d) < 0)
		return -1;
	r = sys_read(e->sys, d->pipe->rd, d->buf, MIN(d->pipe->bytes, (size_t)e->bufsize));
	if (r <= 0)
		return -1;
	d->head = 0;
	d->tail = (uint32_t)r;
	d->pipe->bytes -= (size_t)r;
	direction_pipe_took(e, d, (size_t)r);
	return 0;
}

/* Writes from the pipe, or moves some of it to the buffer when it has to be copied. */
static enum io_result
direction_splice_out(struct stream *s, int side, int last)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	size_t put;

	if (!d->no_splice) {
		switch (splice_out(s->conn[!side], d->pipe, last, &put)) {
		case SPLICE_OK:
			counter_add(&e->stat.spliced, put);
			if (s->is_http)
				counter_add(&h1_of(s, !side)->spliced_out, put);
			direction_pipe_took(e, d, put);
			return IO_OK;
		case SPLICE_AGAIN:
			return IO_AGAIN;
		case SPLICE_ERR:
			return IO_ERR;
		case SPLICE_ASK:
		case SPLICE_CANNOT:
			stop_splicing(e, d);
			break;
		}
	}
	if (read_out(e, d) == 0)
		return IO_OK;
	/* The data was received but cannot be stored: the stream is broken, even at its end. */
	direction_discard_pending(e, d);
	s->conn[side]->err = ENOMEM;
	stream_note_failure(s, side);
	direction_event(s, side, DIRECTION_EV_ABORT);
	direction_event(s, !side, DIRECTION_EV_SINK_ERR);
	return IO_AGAIN;
}

/* Data is written at once after it was read. */
static struct io_step
splice_on(struct stream *s, int side, size_t got)
{
	const struct relay_ops *ops = s->dir[side].ops;
	enum relay_status status = RELAY_ON;
	struct io_step step;
	size_t used, out;

	if (ops->step)
		status = ops->step(s, side, NULL, got, &used, &out);
	/* Set before the write: a FIN may be sent with it. */
	if (status == RELAY_OVER)
		direction_event(s, side, DIRECTION_EV_MSG_END);
	step = direction_flush(s, side);
	if (!step.more || status == RELAY_ON)
		return step;
	direction_event(s, side, DIRECTION_EV_EMPTY);
	return io_stop();
}

/* The pipe has data. */
static struct io_step
splice_took(struct stream *s, int side, struct pipe *p, size_t got)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];

	d->pipe = p;
	counter_add(&e->pipes.bytes, got);
	memory_watch(e);
	direction_count(s, side, got);
	if (s->is_http)
		counter_add(&h1_of(s, side)->spliced_in, got);
	d->burst = (uint32_t)MIN((uint64_t)d->burst + got, UINT32_MAX);
	/* The sink's timeout starts now. */
	s->last_ms[!side] = loop_now_ms(e->loop);
	return splice_on(s, side, got);
}

/* One splice() from the source, and those to the sink. 0: *step has the result; -1: the data has to
 * be copied. */
static int
direction_splice_once(struct stream *s, int side, struct io_step *step)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	uint64_t len = MAX(bulk_turn(e), e->bufsize) * BULK_SPLICED_SHARE;
	uint64_t room = memory_room(e);
	struct pipe *p = NULL;
	size_t got;

	*step = io_stop();
	/* Pipes use memory: never so much that new sessions would have to wait for it. */
	if (room >= e->bufsize)
		p = pipe_get(&e->pipes, loop_now_ms(e->loop));
	if (!p) {
		counter_add(&e->stat.splice_fallbacks, 1);
		return -1;
	}
	/* Data after the message stays in the kernel. */
	len = MIN(MIN(len, room), opaque_bytes(s, side));
	switch (splice_in(s->conn[side], p, (size_t)len, &got)) {
	case SPLICE_OK:
		*step = splice_took(s, side, p, got);
		return 0;
	case SPLICE_AGAIN:
		direction_pipe_put(e, p);
		bulk_drained(e, d);
		return 0;
	case SPLICE_ERR:
		direction_pipe_put(e, p);
		direction_side_failed(s, side);
		return 0;
	case SPLICE_CANNOT:
		stop_splicing(e, d);
		break;
	case SPLICE_ASK:
		break;
	}
	direction_pipe_put(e, p);
	return -1;
}

void
direction_count(struct stream *s, int side, size_t n)
{
	struct engine *e = s->engine;

	s->dir[side].bytes += n;
	s->last_ms[side] = loop_now_ms(e->loop);
	if (!s->dir[side].is_bulk)
		e->bulk.others_ms = s->last_ms[side];
	if (side == CLIENT) {
		counter_add(&e->stat.bytes_in, n);
		if (s->is_http && !s->is_carried)
			counter_add(&fe_stat(s)->h1.in, n);
	} else {
		counter_add(&e->stat.bytes_out, n);
		if (s->is_http && !conn_is_stream(s->conn[SERVER]))
			counter_add(&be_stat(s)->h1.in, n);
	}
}

static struct io_step read_again(struct stream *s, int side);

/* After an error no event may report the remaining data. */
static inline int
source_is_ready(const struct conn *src)
{
	return src->err || conn_is_ready(src, DIR_R);
}

void
direction_notify_if_empty(struct stream *s, int side)
{
	if (!direction_pending(&s->dir[side]))
		direction_event(s, side, DIRECTION_EV_EMPTY);
}

void
direction_side_failed(struct stream *s, int side)
{
	stream_note_failure(s, side);
	direction_event(s, side, DIRECTION_EV_SRC_ERR);
	direction_notify_if_empty(s, side);
	direction_event(s, !side, DIRECTION_EV_SINK_ERR);
}

/* The sink accepts no more data; data received from that side can still be read. */
static enum stream_event
sink_failed(struct stream *s, int side)
{
	const struct relay_ops *ops = s->dir[side].ops;
	struct io_step step = { STREAM_EV_NONE, 1 };
	int other = !side;

	if (ops->fail)
		step.ev = ops->fail(s, side);
	if (step.ev != STREAM_EV_NONE)
		return step.ev;
	stream_note_failure(s, other);
	direction_event(s, side, DIRECTION_EV_SINK_ERR);
	/* A local reply has no source. */
	if (!conn_is_open(s->conn[side]))
		return STREAM_EV_NONE;
	if (s->dir[other].state != DIRECTION_OPEN) {
		direction_side_failed(s, other);
		return STREAM_EV_NONE;
	}
	while (step.more && s->dir[other].state == DIRECTION_OPEN &&
		!direction_has_pending(&s->dir[other]))
		step = read_again(s, other);
	return step.ev;
}

static int
is_opaque(const struct stream *s, int side)
{
	const struct relay_ops *ops = s->dir[side].ops;

	return !ops->opaque || ops->opaque(s, side);
}

/* True if the sink's FIN may be sent with these bytes. */
static int
is_last(const struct stream *s, int side, int over)
{
	const struct relay_ops *ops = s->dir[side].ops;

	return ops->closes ? ops->closes(s, side, over) : s->conn[side]->eof;
}

/* Writes once from the buffer. */
static enum io_result
send_buf(struct stream *s, int side, int more, size_t *put)
{
	struct direction *d = &s->dir[side];
	const char *p = d->buf + d->head;
	size_t n = direction_buffered(d);
	enum io_result r;

	if (d->is_big || d->is_wide || !is_opaque(s, side))
		r = conn_send(s->conn[!side], p, n, more, put);
	else
		r = zerocopy_send(
			&s->engine->zerocopy, s->conn[!side], &d->pin, d->buf, p, n, more, put);
	d->head += (uint32_t)*put;
	return r;
}

/* Writes once from the first pending data: from the buffer, then from the pipe. */
static enum io_result
write_pending(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	int last = (d->state == DIRECTION_DRAIN && !d->broken) ||
		(d->state == DIRECTION_TAIL && is_last(s, side, 1));
	size_t put;

	if (!direction_buffered(d))
		return direction_splice_out(s, side, last);
	return send_buf(s, side, last, &put);
}

struct io_step
direction_flush(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct conn *sink = s->conn[!side];
	int owed = direction_pending(d) != 0;

	while (direction_pending(d)) {
		enum io_result r = IO_AGAIN;

		if (conn_is_ready(sink, DIR_W))
			r = write_pending(s, side);
		if (r == IO_ERR)
			return io_event(sink_failed(s, side));
		if (r != IO_OK)
			return io_stop();
		s->last_ms[!side] = stream_now_ms(s);
	}
	if (d->buf)
		direction_buf_free_if_empty(s->engine, d);
	/* The source was not read meanwhile: its timeout starts now. */
	if (owed)
		s->last_ms[side] = stream_now_ms(s);
	return io_more(1);
}

/*
 * Sends new bytes and keeps what the sink does not accept; they are in the direction's buffer or in
 * the scratch buffer. last: the sink's FIN follows. more: the direction continues.
 */
static struct io_step
forward_bytes(struct stream *s, int side, const char *p, size_t n, int last)
{
	struct direction *d = &s->dir[side];
	struct conn *sink = s->conn[!side];
	int own = p == d->buf;
	size_t put = 0;

	if (conn_is_ready(sink, DIR_W)) {
		enum io_result r = own ? send_buf(s, side, last, &put)
				       : conn_send(sink, p, n, last, &put);

		if (r == IO_ERR)
			return io_event(sink_failed(s, side));
		if (put)
			s->last_ms[!side] = stream_now_ms(s);
	}
	if (own && put == n)
		direction_buf_free_if_empty(s->engine, d);
	if (put < n) {
		if (!own)
			direction_buf_append(s->engine, d, p + put, n - put);
		/* The sink's timeout starts now. */
		s->last_ms[!side] = stream_now_ms(s);
	}
	return io_more(1);
}

void
direction_source_ended(struct stream *s, int side)
{
	/* client-fin and server-fin start here. */
	s->last_ms[side] = stream_now_ms(s);
	direction_event(s, side, DIRECTION_EV_SRC_EOF);
	direction_notify_if_empty(s, side);
}

/* Handles a step other than RELAY_ON; its bytes have been forwarded. */
static enum stream_event
end_step(struct stream *s, int side, enum relay_status status, const char *rest, size_t n)
{
	const struct relay_ops *ops = s->dir[side].ops;

	if (ops->end)
		return ops->end(s, side, status, rest, n);
	direction_source_ended(s, side);
	return STREAM_EV_NONE;
}

enum stream_event
direction_eof(struct stream *s, int side)
{
	/* Filters reach it behind the lookahead. */
	if (unlikely(s->dir[side].ops->filter != NULL)) {
		conn_presume_ready(s->conn[side], DIR_R);
		return STREAM_EV_NONE;
	}
	return end_step(s, side, RELAY_EOF, NULL, 0);
}

/* Consumes bytes in the kernel that were sent after a peek. */
static struct io_step
take_sent(struct stream *s, int side, size_t put, size_t got, int is_short)
{
	const struct relay_ops *ops = s->dir[side].ops;
	struct engine *e = s->engine;
	struct conn *src = s->conn[side];
	enum relay_status status = RELAY_ON;
	size_t used = put, out = put;

	s->last_ms[!side] = loop_now_ms(e->loop);
	direction_count(s, side, put);
	bulk_note(s, side, put, e->bufsize);
	if (ops->step)
		status = ops->step(s, side, e->scratch, put, &used, &out);
	if (conn_take(src, e->scratch, put, is_short && put == got) != IO_OK) {
		direction_side_failed(s, side);
		return io_stop();
	}
	if (status != RELAY_ON)
		return io_event(end_step(s, side, status, NULL, got - put));
	if (src->eof && put == got)
		return io_event(direction_eof(s, side));
	return io_more(1);
}

/* Sends bytes that are still in the kernel and consumes those that were sent. As pump_once(). */
static struct io_step
forward_in_place(struct stream *s, int side, size_t got, int is_short)
{
	struct direction *d = &s->dir[side];
	struct conn *sink = s->conn[!side];
	char *p = s->engine->scratch;
	size_t put = 0, n = d->ops->look ? d->ops->look(s, side, p, got) : got;
	struct io_step step = io_stop();

	if (!n) {
		direction_wait_for_buffer(s, side);
		return step;
	}
	if (conn_is_ready(sink, DIR_W) &&
		conn_send(sink, p, n, 0, &put) == IO_ERR)
		return io_event(sink_failed(s, side));
	if (put)
		step = take_sent(s, side, put, got, is_short);
	if (put < n) {
		d->left_in_kernel = 1;
		s->last_ms[!side] = stream_now_ms(s);
		step.more = 0;
	}
	return step;
}

/* Forwards new bytes of the message. As pump_once(). */
static struct io_step
pass_on(struct stream *s, int side, char *p, size_t got)
{
	struct direction *d = &s->dir[side];
	enum relay_status status = RELAY_ON;
	size_t used = got, out = got;
	struct io_step step;

	if (d->ops->step)
		status = d->ops->step(s, side, p, got, &used, &out);
	/* Bytes after the message must not be sent with it. */
	if (p == d->buf)
		d->tail = (uint32_t)out;
	if (out) {
		step = forward_bytes(s, side, p, out, is_last(s, side, status == RELAY_OVER));
		if (!step.more)
			return step;
	}
	if (status != RELAY_ON)
		return io_event(end_step(s, side, status, p + used, got - used));
	if (s->conn[side]->eof)
		return io_event(direction_eof(s, side));
	return io_more(!direction_pending(d));
}

/*
 * A buffer to read into if the sink can use zero-copy sends, or NULL: use the scratch buffer. It is
 * owned by the direction (d->buf) and empty; a buffer must be available (memory_reserve_buffer).
 */
static char *
direction_zc_buf_get(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct engine *e = s->engine;

	if (d->buf || (d->ops->opaque && !d->ops->opaque(s, side)) ||
		!zerocopy_may(&e->zerocopy, s->conn[!side]))
		return NULL;
	d->buf = pool_get(&e->pools.buf);
	assert(d->buf);
	d->head = d->tail = 0;
	memory_watch(e);
	return d->buf;
}

/* One read with a copy, and its consequences. As pump_once(). */
static inline struct io_step
copy_once(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	struct conn *src = s->conn[side];
	char *own = NULL, *to = e->scratch;
	enum io_result r;
	size_t got, room;
	int may_keep;

	/* Without a buffer the bytes stay in the kernel, if they can be peeked at there. */
	if (!d->buf && !memory_reserve_buffer(e) &&
		(!conn_can(src, XPRT_PEEK) || (d->ops->look && !d->ops->look(s, side, NULL, 0)))) {
		direction_wait_for_buffer(s, side);
		return io_stop();
	}
	may_keep = direction_reserve_room(e, d);
	if (may_keep && e->zerocopy.threshold && (own = direction_zc_buf_get(s, side)))
		to = own;
	room = may_keep && d->is_bulk ? bulk_reach(e, d) : e->bufsize;
	if (d->ops->reach)
		room = d->ops->reach(s, side, room);
	r = may_keep ? conn_recv(src, to, room, &got) : conn_peek(src, to, room, &got);
	if (own && r == IO_OK)
		d->tail = (uint32_t)got;
	else if (own)
		direction_buf_free_if_empty(e, d);
	switch (r) {
	case IO_AGAIN:
		bulk_drained(e, d);
		return io_stop();
	case IO_EOF:
		return io_event(direction_eof(s, side));
	case IO_ERR:
		direction_side_failed(s, side);
		return io_stop();
	case IO_OK:
		break;
	}
	if (!may_keep)
		return forward_in_place(s, side, got, got < room);
	direction_count(s, side, got);
	bulk_note(s, side, got, room);
	return pass_on(s, side, to, got);
}

/* One read and its consequences; more: another one is worth a try. */
static inline struct io_step
pump_once(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct io_step step;

	if (d->ops->read)
		return d->ops->read(s, side);
	if (d->is_bulk && direction_splices(s, side) && direction_splice_once(s, side, &step) == 0)
		return step;
	return copy_once(s, side);
}

/* The same out of line, for a rare caller. */
static one_copy struct io_step
read_again(struct stream *s, int side)
{
	return pump_once(s, side);
}

/* The number of bytes of a bulk transfer that cost as much as one copied byte. */
static unsigned int
bulk_share(const struct stream *s, int side)
{
	return direction_splices(s, side) ? BULK_SPLICED_SHARE : 1;
}

/* A source without interest while its message was flushed may not have been watched: its state is
 * old and has to be checked before it serves another request. */
static void
distrust_interest(struct conn *src)
{
	if (!(conn_polled(src) & EV_R))
		conn_presume_ready(src, DIR_R);
}

static enum stream_event
pump_reads(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct engine *e = s->engine;
	unsigned int reads = e->limits.max_reads;
	uint64_t most = unlikely(d->is_bulk) ? MAX(bulk_turn(e), 1) * bulk_share(s, side)
					     : (uint64_t)reads * e->bufsize;
	uint64_t upto = d->bytes + most;
	struct io_step step = io_more(1);

	if (d->buf || d->pipe)
		step = direction_flush(s, side);
	if (!step.more)
		return step.ev;
	if (unlikely(d->left_in_kernel)) {
		if (!conn_is_ready(s->conn[!side], DIR_W))
			return STREAM_EV_NONE;
		d->left_in_kernel = 0;
	}
	if (d->state != DIRECTION_OPEN) {
		if (d->state == DIRECTION_TAIL && side == SERVER)
			distrust_interest(s->conn[side]);
		direction_event(s, side, DIRECTION_EV_EMPTY);
		return STREAM_EV_NONE;
	}
	if (d->lookahead && d->ops->read)
		step = d->ops->read(s, side);
	while (step.more && reads-- > 0 && d->bytes < upto && d->state == DIRECTION_OPEN &&
		source_is_ready(s->conn[side]))
		step = pump_once(s, side);
	return step.ev;
}

/* A preface that had no data to leave with: a server that speaks first waits for it. */
static enum stream_event
send_preface(struct stream *s, int side)
{
	if (!conn_is_ready(s->conn[!side], DIR_W) || conn_send_preface(s->conn[!side]) != IO_ERR)
		return STREAM_EV_NONE;
	return sink_failed(s, side);
}

static void
bulk_used(struct engine *e, uint64_t n)
{
	e->bulk.left -= MIN(n, e->bulk.left);
}

/* A bulk transfer has had its turn: per, before and owed are its share, its bytes and those that
 * were pending at the beginning. */
one_copy static void
count_turn(const struct stream *s, int side, unsigned int per, uint64_t before, uint64_t owed)
{
	const struct direction *d = &s->dir[side];
	uint64_t in = d->bytes - before, out = in + owed - direction_pending(d);

	bulk_used(s->engine, MAX(in, out) / MAX(per, bulk_share(s, side)));
}

enum stream_event
direction_pump_now(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	uint64_t before = d->bytes, owed = direction_pending(d);
	enum stream_event ev;
	unsigned int per = 1;

	if (direction_is_over(d))
		return STREAM_EV_NONE;
	if (unlikely(d->is_bulk))
		per = bulk_share(s, side);
	bulk_leave(d);
	ev = pump_reads(s, side);
	if (unlikely(s->conn[!side]->owes_preface) && ev == STREAM_EV_NONE)
		ev = send_preface(s, side);
	if (unlikely(d->is_bulk))
		count_turn(s, side, per, before, owed);
	return ev;
}

void
direction_collect(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct conn *src = s->conn[CLIENT];
	struct engine *e = s->engine;
	size_t got;
	int may_keep;

	if (d->state != DIRECTION_OPEN || !direction_has_room(e, d) ||
		!conn_is_ready(src, DIR_R))
		return;
	may_keep = direction_reserve_room(e, d);
	if (!may_keep && !conn_can(src, XPRT_PEEK)) {
		/* Data, if any, stays there too. */
		d->left_in_kernel = 1;
		return;
	}
	switch (may_keep ? conn_recv(src, e->scratch, e->bufsize - d->tail, &got)
			 : conn_peek(src, e->scratch, 1, &got)) {
	case IO_AGAIN:
		return;
	case IO_OK:
		if (!may_keep) {
			/* The data stays there until the server's side is established. */
			d->left_in_kernel = 1;
			return;
		}
		direction_count(s, CLIENT, got);
		direction_buf_append(e, d, e->scratch, got);
		if (src->eof)
			direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
		return;
	case IO_EOF:
		direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
		return;
	case IO_ERR:
		direction_side_failed(s, CLIENT);
		return;
	}
}

int
direction_end_buffer_wait(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	int waited = d->waits_for_buffer;

	d->waits_for_buffer = 0;
	/* The source was not read and maybe not watched meanwhile, and the sink was sent nothing:
	 * their timeouts start now. */
	if (unlikely(d->waits_to_pass)) {
		d->waits_to_pass = 0;
		s->last_ms[CLIENT] = s->last_ms[SERVER] = stream_now_ms(s);
		distrust_interest(s->conn[side]);
	}
	if (waited)
		direction_reap_zc(s);
	return waited;
}
