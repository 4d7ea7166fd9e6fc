/*
 * Bytes in pieces of a pool: the output of a connection, and what of a body its user has not taken
 * yet. An empty queue owns no memory. On one worker.
 */
#ifndef TACIT_H2_H2_BYTES_H
#define TACIT_H2_H2_BYTES_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/pool.h"
#include "base/str.h"

struct h2_piece {
	struct h2_piece *next;
	uint32_t from, to; /* the bytes are p[from..to) */
	uint8_t p[];
};

struct h2_bytes {
	struct h2_piece *first, *last;
	size_t len;
};

/* The bytes that a piece of this pool has room for. */
static inline size_t
h2_piece_room(const struct pool *pool)
{
	return pool->size - sizeof(struct h2_piece);
}

/* Room for n bytes, at most a piece's, in one run behind the others; they count at once. NULL: no
 * memory. */
uint8_t *h2_bytes_extend(struct h2_bytes *q, struct pool *pool, size_t n) must_check;
/* Appends n bytes: 0, or -ERR_NOMEM, when none is. */
int h2_bytes_add(struct h2_bytes *q, struct pool *pool, const void *p, size_t n) must_check;
/* The first run of bytes; an empty one if there are none. */
struct str h2_bytes_first(const struct h2_bytes *q);
/* The byte at this offset. */
uint8_t *h2_bytes_at(struct h2_bytes *q, size_t at);
/* Drops the first n bytes. */
void h2_bytes_drop(struct h2_bytes *q, struct pool *pool, size_t n);
/* Moves up to n bytes to the buffer: their number. */
size_t h2_bytes_take(struct h2_bytes *q, struct pool *pool, void *to, size_t n);

#endif
