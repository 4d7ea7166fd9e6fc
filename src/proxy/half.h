/* Moving bytes of one half: the pump. Private to proxy. */
#ifndef TACIT_PROXY_HALF_H
#define TACIT_PROXY_HALF_H

#include "proxy/session.h"

/* What of it is in the buffer: it goes first. */
static inline uint32_t
half_buffered(const struct half *h)
{
	return h->tail - h->head;
}

/* Read and not yet written, wherever it waits. */
static inline size_t
half_pending(const struct half *h)
{
	return half_buffered(h) + (h->pipe ? h->pipe->bytes : 0);
}

/* Bytes, here or still in the kernel, that have to leave before more are read. */
static inline int
half_owes(const struct half *h)
{
	return half_pending(h) || h->stuck;
}

/* Nothing of it will be forwarded any more. */
static inline int
half_is_over(const struct half *h)
{
	return h->state == HALF_CLOSED || h->state == HALF_DONE;
}

void half_init(struct half *h);
/* Gives buffer and pipe back, with what is in them. */
void half_fini(struct engine *e, struct half *h);
/* What is pending will never be written. */
void half_discard(struct engine *e, struct half *h);
/* Gives the buffer back, with what is in it. */
void half_drop_buf(struct engine *e, struct half *h);
/* Room for more while there is nobody to write to. */
int half_has_room(const struct engine *e, const struct half *h);

/*
 * Reads from conn[side] while it is believed ready and writes straight on to the other one; keeps
 * what the sink refused and then stops reading. Raises the half's events. Only with both sides
 * connected.
 */
void half_pump(struct session *s, int side);
/* The same, whosever turn it is: half_pump() makes a stream wait for its own. */
void half_pump_now(struct session *s, int side);
/* Reads what the client has sent so far and keeps it: there is no server yet. */
void half_collect(struct session *s);
/* The half's first bytes, sent before the server side is known to be up: 1 when that worked. */
int half_speculate(struct session *s);

/* --- between half.c and half_splice.c --- */

/* Bytes were read from side: for the counters. */
void half_count(struct session *s, int side, size_t n);
/* The source has sent FIN. */
void half_source_ended(struct session *s, int side);
/* Writes what is pending: 1 when nothing is left. */
int half_flush(struct session *s, int side);

/* --- half_buf.c --- */

/* A buffer, beyond tune.memory if it must be: 0, or -1 when there is none. */
int half_take_buf(struct engine *e, struct half *h);
/* Gives it back when nothing is pending in it: what was read ahead stays. */
void half_release_buf(struct engine *e, struct half *h);
/* May bytes be read that the sink may refuse? */
int half_can_keep(struct engine *e, const struct half *h);
/* Keeps n bytes that it did refuse, behind those that it has. There is room: half_can_keep(), and
 * stream_reach() for more than tune.bufsize. */
void half_keep(struct engine *e, struct half *h, const char *p, size_t n);

/* Does an option want it spliced at the first opportunity? */
int half_is_forced(const struct session *s, int side);
/* Is the next read to go through a pipe? */
int half_splices(const struct session *s, int side);
/* One splice() from the source, and those to the sink: as pump_once(), or -1: copy. */
int half_splice_once(struct session *s, int side);
/* One write out of the pipe, or some of it into the buffer when it has to be copied after all. */
enum io_result half_splice_out(struct session *s, int side, int last);
/* Closes the pipe, if there is one, with what it holds. */
void half_drop_pipe(struct engine *e, struct half *h);
void engine_splice_init(struct engine *e);
void engine_splice_fini(struct engine *e);
/* --- half_zerocopy.c --- */

/* Beside EV_x: the error that EV_ERR tells of has been taken, conn.err says which. */
#define HALF_EV_TAKEN (1u << 31)

/* Both sides are connected: which of them are worth zero-copy sends? */
void half_plan_zerocopy(struct session *s);
/*
 * A buffer to read into when the sink may be sent to from it, or NULL: the scratch buffer will do.
 * It is the half's then (h->buf), empty; there must be one (memory_has_buffer).
 */
char *half_own_buf(struct session *s, int side);
/* Takes the kernel's answers to zero-copy sends: the events without EV_ERR, unless there was an
 * error too, which is taken then. */
uint32_t half_answers(struct session *s, int side, uint32_t ev);
/* Who waits for memory asks for what the kernel has of its own first: a descriptor of which nothing
 * is wanted may not be registered, and says nothing. */
void half_reap(struct session *s);

/* Who was first to fail, for the log and the counters. */
void session_note_failure(struct session *s, int side);
/* A side failed for good: both halves are told, and who was first is noted for the log. */
void session_side_failed(struct session *s, int side);

#endif
