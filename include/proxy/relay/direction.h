/* Moving bytes of one direction: the pump. Private to proxy. */
#ifndef TACIT_PROXY_RELAY_DIRECTION_H
#define TACIT_PROXY_RELAY_DIRECTION_H

#include "proxy/model/session.h"
#include "proxy/relay/relay_ops.h"

/* A direction that waits for a buffer asks for it again after so many ms. */
#define DIRECTION_BUFFER_WAIT_MS 50

/* What of it is in the buffer: it goes first. */
static inline uint32_t
direction_buffered(const struct direction *h)
{
	return h->tail - h->head;
}

/* Read and not yet written, wherever it waits. */
static inline size_t
direction_pending(const struct direction *h)
{
	return direction_buffered(h) + (h->pipe ? h->pipe->bytes : 0);
}

/* Bytes, here or still in the kernel, that have to leave before more are read. */
static inline int
direction_has_pending(const struct direction *h)
{
	return direction_pending(h) || h->left_in_kernel;
}

/* Nothing of it will be forwarded any more. */
static inline int
direction_is_over(const struct direction *h)
{
	return h->state == DIRECTION_CLOSED || h->state == DIRECTION_DONE;
}

void direction_init(struct direction *h);
/* Gives buffer and pipe back, with what is in them. */
void direction_fini(struct engine *e, struct direction *h);
/* What is pending will never be written. */
void direction_discard_pending(struct engine *e, struct direction *h);
/* Gives the buffer back, with what is in it. */
void direction_buf_free(struct engine *e, struct direction *h);
/* Room for more while there is nobody to write to. */
int direction_has_room(const struct engine *e, const struct direction *h);

/*
 * Reads from conn[side] while it is believed ready and writes straight on to the other one; keeps
 * what the sink refused and then stops reading. Raises the direction's events. Only with both sides
 * connected. Returns what the session is to be told, as do the others that return an event.
 */
enum session_event direction_pump(struct session *s, int side) must_check;
/* The same out of turn: direction_pump() makes a bulk transfer wait for its turn. */
enum session_event direction_pump_now(struct session *s, int side) must_check;
/* Reads what the client has sent so far and keeps it: there is no server yet. */
void direction_collect(struct session *s);
/* The direction's first bytes, sent before the server side is known to be up: 1 when that
 * worked. */
int direction_speculative_send(struct session *s);
/* Writes what is pending; more: nothing is left. */
struct io_step direction_flush(struct session *s, int side) must_check;
/* The source has sent FIN, and all that it sent before is read. */
enum session_event direction_eof(struct session *s, int side) must_check;
/* The same where the message may end so: always in plain TCP. */
void direction_source_ended(struct session *s, int side);
/* Nothing is pending any more: the direction is told. */
void direction_tell_if_empty(struct session *s, int side);
/* The source has bytes, and there is no buffer for them: the session tries again in a while. */
void direction_wait_for_buffer(struct session *s, int side);
/* A side failed for good: both directions are told, and the log notes who was first. */
void direction_side_failed(struct session *s, int side);

/* --- direction_fsm.c --- */

/* Runs one event of the direction whose source is `side`; the only place that assigns its state. */
void direction_event(struct session *s, int side, enum direction_event ev);

/* --- between direction.c and direction_splice.c --- */

/* Counts bytes that were read from side. */
void direction_count(struct session *s, int side, size_t n);

/* --- direction_buf.c --- */

/* A buffer, beyond tune.memory if it must be: 0, or -1 when there is none. */
int direction_buf_get(struct engine *e, struct direction *h);
/* Gives it back when nothing is pending in it: what was read ahead stays. */
void direction_buf_free_if_empty(struct engine *e, struct direction *h);
/* Makes sure that bytes which the sink refuses can be kept: 1, or 0. */
int direction_reserve_room(struct engine *e, const struct direction *h);
/* Keeps n bytes that it did refuse, behind those that it has. There is room:
 * direction_reserve_room(), and bulk_reach() for more than tune.bufsize. */
void direction_buf_append(struct engine *e, struct direction *h, const char *p, size_t n);

/* Is the next read to go through a pipe? */
int direction_splices(const struct session *s, int side);
/* One splice() from the source, and those to the sink. 0: *step says what it came to; -1: the bytes
 * have to be copied. */
int direction_splice_once(struct session *s, int side, struct io_step *step) must_check;
/* One write out of the pipe, or some of it into the buffer when it has to be copied after all. */
enum io_result direction_splice_out(struct session *s, int side, int last);

/* --- direction_pipe.c --- */

/* Closes the pipe, if there is one, with what it holds. */
void direction_pipe_drop(struct engine *e, struct direction *h);
/* An empty one goes back and is there for the next transfer, for a while. */
void direction_pipe_put(struct engine *e, struct pipe *p);
/* n bytes were taken out of the direction's. */
void direction_pipe_took(struct engine *e, struct direction *h, size_t n);
void engine_splice_init(struct engine *e);
void engine_splice_fini(struct engine *e);

/* --- direction_zerocopy.c --- */

/* Beside EV_x: the error that EV_ERR tells of has been taken, conn.err says which. */
#define DIRECTION_EV_TAKEN (1u << 31)

/* Both sides are connected: which of them are worth zero-copy sends? */
void direction_plan_zerocopy(struct session *s);
/*
 * A buffer to read into when the sink may be sent to from it, or NULL: the scratch buffer will do.
 * It is the direction's then (h->buf), empty; there must be one (memory_reserve_buffer).
 */
char *direction_zc_buf_get(struct session *s, int side);
/* Takes the kernel's answers to zero-copy sends: the events without EV_ERR, unless there was an
 * error too, which is taken then. */
uint32_t direction_take_zc_completions(struct session *s, int side, uint32_t ev);
/* Who waits for memory asks for what the kernel has of its own first: a descriptor of which nothing
 * is wanted may not be registered, and says nothing. */
void direction_reap_zc(struct session *s);

#endif
