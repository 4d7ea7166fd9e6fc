/* Bulk transfer through a pipe, on the session's worker. A direction owns a pipe only while
 * bytes are in it, and reads only into an empty one: nothing overtakes, and EAGAIN is about the
 * source. */
#include "proxy/relay/direction.h"

#include <errno.h>

#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "net/splice.h"
#include "proxy/model/memory.h"
#include "proxy/relay/bulk.h"
#include "base/counter.h"

/* --- conditions --- */

/* Number of following bytes that need no parsing. */
static uint64_t
opaque_bytes(const struct stream *s, int side)
{
	const struct relay_ops *ops = s->dir[side].ops;

	return ops->opaque ? ops->opaque(s, side) : UINT64_MAX;
}

int
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
	counter_add(&e->splice_fallbacks, 1);
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

enum io_result
direction_splice_out(struct stream *s, int side, int last)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	size_t put;

	if (!d->no_splice) {
		switch (splice_out(s->conn[!side], d->pipe, last, &put)) {
		case SPLICE_OK:
			counter_add(&e->spliced, put);
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

int
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
		counter_add(&e->splice_fallbacks, 1);
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
