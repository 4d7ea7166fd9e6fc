/*
 * Bulk transfers: directions that transfer many bytes without a pause. They are read in larger
 * pieces and share a limited number of bytes per turn of the loop, so that other sessions are
 * served in between. While no other session is active, turns and pieces are longer, which saves
 * wake-ups. Private to proxy.
 */
#ifndef TACIT_PROXY_RELAY_BULK_H
#define TACIT_PROXY_RELAY_BULK_H

#include "proxy/model/session.h"

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
/* A larger buffer, once bulk_reach() exceeds tune.bufsize. */
char *bulk_buf(struct engine *e);
void bulk_buf_put(struct engine *e, char *buf);

/* 1: the direction may be pumped now. 0: it waits for its turn: engine.on_bulk_turn() is called. */
int bulk_take_turn(struct stream *s, int side);
/* The bytes left in this turn; and accounting for used ones. */
uint64_t bulk_turn(struct engine *e);
void bulk_used(struct engine *e, uint64_t n);
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

#endif
