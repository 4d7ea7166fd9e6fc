/*
 * Compression of bodies: DEFLATE (RFC 1951), alone or as zlib (RFC 1950) or gzip (RFC 1952) frames
 * it. Each piece is compressed by itself and ends at a byte, so a body needs no memory but its
 * check; the compressor is shared. Level 1 is ISA-L's, if it was built with that; others are
 * zlib's.
 */
#ifndef TACIT_HTTP_DEFLATE_H
#define TACIT_HTTP_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define DEFLATE_LEVEL_MAX 9

enum deflate_format { DEFLATE_RAW, DEFLATE_ZLIB, DEFLATE_GZIP };

struct deflate;

/* The settings of zlib: of level 1 only without ISA-L. */
struct deflate_conf {
	int level;       /* 1 to DEFLATE_LEVEL_MAX */
	int window_bits; /* 8 to 15 */
	int mem_level;   /* 1 to 9 */
};

/* A body. All zero but for the format at its begin. */
struct deflate_body {
	uint8_t format;  /* enum deflate_format */
	uint8_t has_begun;
	uint32_t check;
	uint64_t n;
};

/* A compressor, for one worker. NULL: there is no memory. */
struct deflate *deflate_new(const struct deflate_conf *conf) must_check;
/* NULL is allowed. */
void deflate_free(struct deflate **d);

/* At most this many bytes are made of a piece of n. */
size_t deflate_most(size_t n);
/* Compresses a piece of a body, of at most 65535 bytes, to `to`, which has room for
 * deflate_most(n). last: it ends the body. Returns the number of bytes. */
size_t deflate_piece(struct deflate *d, struct deflate_body *b, const char *p, size_t n, int last,
	char *to);

#endif
