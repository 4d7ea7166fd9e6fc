/* The pump, which moves the bytes of one direction. Private to proxy. */
#ifndef TACIT_PROXY_RELAY_DIRECTION_H
#define TACIT_PROXY_RELAY_DIRECTION_H

#include "proxy/model/session.h"
#include "proxy/relay/relay_ops.h"

/*
 * Bulk transfers: directions that transfer many bytes without a pause. They are read in larger
 * pieces and share a limited number of bytes per turn of the loop, so that other sessions are
 * served in between. While no other session is active, turns and pieces are longer, which saves
 * wake-ups. Private to proxy.
 */

/* Bytes per turn for spliced data, as a multiple of those for copied data: splicing is that much
 * cheaper. */
#define BULK_SPLICED_SHARE 4

/* Initializes the engine's part, for session.c. */
void bulk_init(struct engine *e);
void bulk_fini(struct engine *e);
/* Sets the parameters of bulk transfers: see struct bulk_shared. To be called before it has
 * sessions. 0 or -ERR_NOMEM. */
int engine_allow_bulk(struct engine *e, unsigned int after, unsigned int bufsize,
	unsigned int per_turn) must_check;

/* Notes the requested and the returned size of a read: a direction with enough consecutive full
 * reads is a bulk transfer. A short read is a pause. */
void bulk_note(struct stream *s, int side, size_t got, size_t asked);
/* The source is known to send this many bytes: the direction is a bulk transfer at once. */
void bulk_expect(struct stream *s, int side, uint64_t n);
/* The source has no more data for now. */
void bulk_drained(const struct engine *e, struct direction *d);

/* Size of the next read. It exceeds tune.bufsize only if a larger buffer is available from
 * bulk_buf(). */
size_t bulk_reach(struct engine *e, const struct direction *d);

/* 1: the direction may be pumped now. 0: it waits for its turn: hooks.on_bulk_turn() follows. */
int bulk_take_turn(struct stream *s, int side);
/* The bytes left in this turn; and accounting for used ones. */
uint64_t bulk_turn(struct engine *e);
/* Called when the direction or its session ends. */
static inline void
bulk_leave(struct direction *d)
{
	if (!d->waits)
		return;
	d->waits = 0;
	list_remove(&d->turn_link);
}

/* The option that splices a direction, whatever it carries. */
unsigned int bulk_splice_option(int side);

/* Milliseconds after which a direction without a buffer tries again. */
#define DIRECTION_BUFFER_WAIT_MS 50

/* Bytes in the buffer: they are sent first. */
static inline uint32_t
direction_buffered(const struct direction *d)
{
	return d->tail - d->head;
}

/* Bytes read and not written yet, in buffer and pipe. */
static inline size_t
direction_pending(const struct direction *d)
{
	return direction_buffered(d) + (d->pipe ? d->pipe->bytes : 0);
}

/* True if bytes, here or in the kernel, have to be sent before more are read. */
static inline int
direction_has_pending(const struct direction *d)
{
	return direction_pending(d) || d->left_in_kernel;
}

/* True if the direction forwards no more data. */
static inline int
direction_is_over(const struct direction *d)
{
	return d->state == DIRECTION_CLOSED || d->state == DIRECTION_DONE;
}

/* Initializes a direction that is all zero. */
static inline void
direction_init(struct direction *d)
{
	d->ops = &relay_plain;
}

/* True if it is not read before s.wake_ms. */
static inline int
direction_is_waiting(const struct direction *d)
{
	return d->waits_for_buffer | d->waits_to_pass;
}

/* Returns buffer and pipe, dropping their contents. */
void direction_fini(struct engine *e, struct direction *d);
/* Drops the pending bytes. */
void direction_discard_pending(struct engine *e, struct direction *d);
/* Returns the buffer, dropping its contents. */
void direction_buf_free(struct engine *e, struct direction *d);
/* True if there is buffer space for more data while there is no sink. */
int direction_has_room(const struct engine *e, const struct direction *d);

/*
 * Reads from conn[side] while it is believed ready and writes to the other side. Keeps data that
 * the sink does not accept, and then stops reading. Raises the direction's events. Both sides must
 * be connected. Returns the event for the session, as do the other functions that return an event.
 */
static inline enum stream_event direction_pump(struct stream *s, int side) must_check;
/* The same without waiting for the turn of a bulk transfer, as direction_pump() does. */
enum stream_event direction_pump_now(struct stream *s, int side) must_check;
static inline enum stream_event
direction_pump(struct stream *s, int side)
{
	if (unlikely(s->dir[side].is_bulk) && !bulk_take_turn(s, side))
		return STREAM_EV_NONE;
	return direction_pump_now(s, side);
}

/* Reads and keeps the client's data while there is no server. */
void direction_collect(struct stream *s);
/* Writes pending data; more: none is left. */
struct io_step direction_flush(struct stream *s, int side) must_check;
/* Called when the source has sent FIN and all its data is read. */
enum stream_event direction_eof(struct stream *s, int side) must_check;
/* The same, for a message that may end so: always in plain TCP. */
void direction_source_ended(struct stream *s, int side);
/* Notifies the direction if nothing is pending. */
void direction_notify_if_empty(struct stream *s, int side);
/* Ends the wait for a buffer, so that the direction may try again, and for a filter: 1 if it waited
 * for a buffer. */
int direction_end_buffer_wait(struct stream *s, int side);
/* The source has data, and no buffer is available: the session tries again later. */
void direction_wait_for_buffer(struct stream *s, int side);
/* One side failed: notifies both directions, and records the first failure for the log. */
void direction_side_failed(struct stream *s, int side);

/* --- direction_fsm.c --- */

/* Handles an event of the direction whose source is `side`; the only function that assigns its
 * state. */
void direction_event(struct stream *s, int side, enum direction_event ev);

/* Counts bytes read from side. */
void direction_count(struct stream *s, int side, size_t n);

/* --- direction_buf.c --- */

/* Allocates a buffer, beyond tune.memory if necessary: 0, or -1 when there is none. */
int direction_buf_get(struct engine *e, struct direction *d);
/* Returns the buffer if nothing is pending in it and there is no lookahead. */
void direction_buf_free_if_empty(struct engine *e, struct direction *d);
/* Ensures that bytes which the sink does not accept can be kept: 1, or 0. */
int direction_reserve_room(struct engine *e, const struct direction *d);
/* Keeps n bytes that the sink did not accept, after those kept already. There must be room:
 * direction_reserve_room(), and bulk_reach() for more than tune.bufsize. */
void direction_buf_append(struct engine *e, struct direction *d, const char *p, size_t n);

/*
 * Moves the bytes from offset `from` on, the lookahead included, to offset `to` behind it, with
 * head and tail if they stand there; what stands before them keeps its offset. Takes a wide buffer
 * if they do not fit otherwise: `to` must be at most tune.bufsize. 0, or -1: there is no memory for
 * one, and nothing has changed.
 */
int direction_make_room(struct engine *e, struct direction *d, uint32_t from, uint32_t to)
	must_check;
/* Nothing is pending: moves the lookahead to offset `at`, into a buffer of the usual size if there
 * is one. */
void direction_move_lookahead(struct engine *e, struct direction *d, uint32_t at);

/* Returns an empty pipe to the pool. */
void direction_pipe_put(struct engine *e, struct pipe *p);
void engine_splice_init(struct engine *e);
void engine_splice_fini(struct engine *e);
/* Allows this many pipes of this size (0: the system's default) for splicing. The default is
 * none. */
void engine_allow_splice(struct engine *e, unsigned int max_pipes, unsigned int pipe_size);

/* --- direction_zerocopy.c --- */

/* Enables zero-copy sends of at least `threshold` bytes, with at most `max` bytes of pinned
 * buffers. To be called on a new engine, before memory_bound(). */
void engine_allow_zerocopy(struct engine *e, size_t threshold, uint64_t max, int fast_path);
/* In addition to EV_x: the error of EV_ERR was read; see conn.err. */
#define DIRECTION_EV_TAKEN (1u << 31)

/* Both sides are connected, and zero-copy sends are enabled: determines which can use them. */
void direction_plan_zerocopy(struct stream *s);
/* EV_ERR: reads zero-copy completions. Returns the events without it, unless there was an error
 * too, which is then in conn.err. */
uint32_t direction_take_zc_completions(struct stream *s, int side, uint32_t ev);
/* A direction that waits for memory first asks the kernel for the state of its descriptor: without
 * interest it may not be registered and reports nothing. */
void direction_reap_zc(struct stream *s);

#endif
