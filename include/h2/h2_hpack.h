/*
 * HPACK (RFC 7541), by nghttp2: field blocks of a connection are decoded and encoded in order, each
 * with the dynamic table of its direction. Memory is that of base/mem.h, and counted. No I/O.
 */
#ifndef TACIT_H2_H2_HPACK_H
#define TACIT_H2_H2_HPACK_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct nghttp2_hd_inflater;
struct nghttp2_hd_deflater;

/* A field of a block. */
struct h2_field {
	struct str name, value;
	int never_indexed; /* 6.2.3 */
};

/* Both tables of a connection; NULL until the first block. */
struct h2_hpack {
	void *allocator;
	struct nghttp2_hd_inflater *in;
	struct nghttp2_hd_deflater *out;
	uint32_t in_size;  /* of the table: our SETTINGS_HEADER_TABLE_SIZE, acknowledged */
	uint32_t out_size; /* the peer's, at most H2_TABLE_OUT_MAX */
	uint8_t in_is_settled, out_is_settled; /* no update of a size is due */
	uint8_t must_empty; /* an encoder begins with an update to 0 (RFC 7541, 4.2) */
	uint8_t *parked;   /* while there is no decoder: a block that fills its table again */
	size_t parked_len;
};

/* The encoder's table has at most the default size, whatever the peer allows. */
#define H2_TABLE_OUT_MAX 4096u

/* Makes the allocator of a worker's tables, which keeps the sum of their bytes: NULL without
 * memory. It is freed by mem_free(), and outlives the tables, as the sum does. */
void *h2_hpack_allocator(_Atomic size_t *sum) must_check;

void h2_hpack_init(struct h2_hpack *hp, void *allocator);
void h2_hpack_fini(struct h2_hpack *hp);

/* Sets the size of the decoder's table, between two blocks: 0 or -ERR_NOMEM. */
int h2_hpack_set_in(struct h2_hpack *hp, uint32_t size) must_check;
/* The same for the encoder's: the next block begins with the new size. */
int h2_hpack_set_out(struct h2_hpack *hp, uint32_t size) must_check;

/*
 * Frees what an idle connection does not need: the encoder's table, so that the next block begins
 * with updates that empty the peer's, too (RFC 7541, 4.2), and all of the decoder but the texts of
 * its table.
 */
void h2_hpack_park(struct h2_hpack *hp);

typedef void h2_field_fn(void *ctx, const struct h2_field *f);
/*
 * Decodes a complete block and calls fn for each field; its texts are valid during the call. 0, or
 * an error after which the connection has to be ended: -ERR_SYNTAX, or -ERR_NOMEM.
 */
int h2_hpack_decode(struct h2_hpack *hp, const uint8_t *block, size_t len, h2_field_fn *fn,
	void *ctx) must_check;

/* Puts the next field into *f, or returns 0 after the last one. */
typedef int h2_next_fn(void *ctx, struct h2_field *f);

/* Names are no longer than this (they are written in lower case, in a copy). */
#define H2_NAME_MAX 1024u
/* The most bytes that a field takes in a block, and that a block has besides its fields. */
#define H2_FIELD_BOUND(name_len, value_len) ((name_len) + (value_len) + 12)
#define H2_BLOCK_EXTRA 32u

/*
 * Encodes all fields that next returns. out has room for the bound of all fields, and no name is
 * longer than H2_NAME_MAX. The length of the block, or an error after which no other block can be
 * encoded: -ERR_NOMEM.
 */
long h2_hpack_encode(struct h2_hpack *hp, h2_next_fn *next, void *ctx, uint8_t *out, size_t cap)
	must_check;

#endif
