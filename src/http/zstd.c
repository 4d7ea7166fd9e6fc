/* Zstandard by libzstd, piece by piece. Pure but for a body's own memory, which the library takes
 * when the body begins. */
#include "http/coder.h"

#ifdef TACIT_ZSTD
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "base/compiler.h"
#include "base/mem.h"

#define LEVEL 1
#define WINDOW_BITS 15
#define HASH_BITS 13
/* A frame without size and check: its magic number, its descriptor, its window (RFC 8878, 3.1.1).
 * Then one without bytes is a last block that is empty. */
#define HEADER 6
#define BLOCK_HEADER 3

struct zstd {
	ZSTD_CCtx *encoder; /* NULL: it has failed, the rest is stored */
	int has_begun;
};

static void
zstd_end(void *body)
{
	struct zstd *z = body;

	(void)ZSTD_freeCCtx(z->encoder);
	mem_free(z);
}

static int
set_number(ZSTD_CCtx *encoder, ZSTD_cParameter name, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(encoder, name, value));
}

/* Makes it allocate all that it needs: a flush without bytes makes none. True if that worked. */
static int
allocate_all(ZSTD_CCtx *encoder)
{
	ZSTD_inBuffer in = { "", 0, 0 };
	char none[HEADER];
	ZSTD_outBuffer out = { none, sizeof(none), 0 };

	return ZSTD_compressStream2(encoder, &out, &in, ZSTD_e_flush) == 0 && !out.pos;
}

static void *
zstd_begin(void)
{
	struct zstd *z = mem_zalloc(sizeof(*z));

	if (!z)
		return NULL;
	z->encoder = ZSTD_createCCtx();
	if (z->encoder && set_number(z->encoder, ZSTD_c_compressionLevel, LEVEL) &&
		set_number(z->encoder, ZSTD_c_windowLog, WINDOW_BITS) &&
		set_number(z->encoder, ZSTD_c_hashLog, HASH_BITS) && allocate_all(z->encoder))
		return z;
	zstd_end(z);
	return NULL;
}

/* The number of bytes of a piece, or 0: there is an error. */
static size_t
zstd_compressed(ZSTD_CCtx *encoder, const char *p, size_t n, int last, char *to)
{
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer out = { to, coder_most(n), 0 };

	if (ZSTD_compressStream2(encoder, &out, &in, last ? ZSTD_e_end : ZSTD_e_flush) != 0)
		return 0;
	return out.pos;
}

/* Puts a piece in raw blocks, which are no longer than the window (RFC 8878, 3.1.1.2.4). */
static size_t
zstd_stored(const struct zstd *z, const char *p, size_t n, int last, char *to)
{
	static const char header[HEADER] = { 0x28, (char)0xb5, 0x2f, (char)0xfd, 0,
		(WINDOW_BITS - 10) << 3 };
	size_t put = 0, at = 0;

	if (!z->has_begun) {
		memcpy(to, header, sizeof(header));
		put = sizeof(header);
	}
	do {
		size_t len = MIN(n - at, (size_t)1 << WINDOW_BITS);
		uint32_t bits = (uint32_t)len << 3 | (uint32_t)(last && at + len == n);

		for (size_t i = 0; i < BLOCK_HEADER; i++)
			to[put++] = (char)(bits >> 8 * i);
		if (len)
			memcpy(to + put, p + at, len);
		put += len;
		at += len;
	} while (at < n);
	return put;
}

static size_t
zstd_piece(void *body, const char *p, size_t n, int last, char *to)
{
	struct zstd *z = body;
	size_t put = 0;

	if (!n && !last)
		return 0;
	if (z->encoder)
		put = zstd_compressed(z->encoder, p, n, last, to);
	if (z->encoder && !put) {
		(void)ZSTD_freeCCtx(z->encoder);
		z->encoder = NULL;
	}
	if (!put)
		put = zstd_stored(z, p, n, last, to);
	z->has_begun = 1;
	return put;
}

const struct coder coder_zstd = {
	.package = "libzstd-dev",
	.memory = 288u << 10,
	.begin = zstd_begin,
	.piece = zstd_piece,
	.end = zstd_end,
};
#else
const struct coder coder_zstd = { .package = "libzstd-dev" };
#endif
