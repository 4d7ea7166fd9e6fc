/*
 * Compression of bodies that need a compressor of their own: Brotli (RFC 7932) and Zstandard
 * (RFC 8878). Each piece of a body is flushed, so it ends at a byte; earlier pieces make the later
 * ones smaller. A piece that cannot be compressed, for lack of memory too, is stored as it is.
 */
#ifndef TACIT_HTTP_CODER_H
#define TACIT_HTTP_CODER_H

#include <stddef.h>

struct coder {
	const char *package;  /* of Debian, that it is built with */
	/* Bytes that a body has at most, while it is compressed; 0: tacit was built without it. */
	size_t memory;
	/* A body begins. NULL: there is no memory. */
	void *(*begin)(void);
	/* Compresses a piece of at most 65535 bytes to `to`, which has room for coder_most(n).
	 * last: it ends the body. Returns the number of bytes. */
	size_t (*piece)(void *body, const char *p, size_t n, int last, char *to);
	/* Releases the body, wherever it has ended. */
	void (*end)(void *body);
};

extern const struct coder coder_br, coder_zstd;

/* At most this many bytes are made of a piece of n. */
static inline size_t
coder_most(size_t n)
{
	return n + 64;
}

#endif
