/*
 * Streams: directions that have much to say. They are read in bigger pieces, and they share what
 * one turn of the loop may forward of them, so that everybody else is served in between. While
 * nobody else says anything turns and pieces are longer: the ends are woken less often. Private to
 * proxy.
 */
#ifndef TACIT_PROXY_RELAY_BULK_H
#define TACIT_PROXY_RELAY_BULK_H

#include "proxy/model/session.h"

/* Splicing costs so many times less than copying: so much more of it makes a turn. */
#define BULK_SPLICED_SHARE 4

/* Of the engine, for session.c. */
void bulk_init(struct engine *e);
void bulk_fini(struct engine *e);

/* The source was asked for so much and said so much: a stream is who says as much as it is asked
 * for, long enough. Less is a pause. */
void bulk_note(struct session *s, int side, size_t got, size_t asked);
/* So many bytes are known to come from the source: nothing has to be shown first. */
void bulk_expect(struct session *s, int side, uint64_t n);
/* It has nothing more to say for now. */
void bulk_drained(const struct engine *e, struct direction *h);

/* How much to read at once: more than a buffer of tune.bufsize holds only when a bigger one can be
 * had, from bulk_buf(). */
size_t bulk_reach(struct engine *e, const struct direction *h);
/* That bigger buffer; it is there after bulk_reach() said so. */
char *bulk_buf(struct engine *e);
void bulk_buf_put(struct engine *e, char *buf);

/* 1: the direction may be pumped now. 0: it waits for its turn, and session_go_on() is called
 * then. */
int bulk_take_turn(struct session *s, int side);
/* Bytes that are left of this turn, and those that were used up. */
uint64_t bulk_turn(struct engine *e);
void bulk_used(struct engine *e, uint64_t n);
/* The direction is over, or its session is. */
void bulk_leave(struct direction *h);

/* The option that has a direction spliced, whatever it carries; and is it set? */
unsigned int bulk_splice_option(int side);
int bulk_is_forced(const struct session *s, int side);

#endif
