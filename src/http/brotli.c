/* Brotli by libbrotlienc, piece by piece. Pure but for a body's own memory. */
#include "http/coder.h"

#ifdef TACIT_BROTLI
#include <brotli/encode.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/mem.h"

/* The lowest quality that finds matches in earlier pieces, at the cost of zlib's level 1. */
#define QUALITY 3
#define WINDOW_BITS 16
/* Bytes before those of an uncompressed meta-block; an empty last one. */
#define STORED_HEADER 3
#define END 3

struct brotli {
	BrotliEncoderState *encoder; /* NULL: it has failed, the rest is stored */
	int has_begun;
	struct list blocks;          /* struct block: what the encoder has allocated */
	jmp_buf no_memory;           /* set while the encoder runs */
};

struct block {
	struct list link;
};

/* Does not return without memory: the library, as Debian builds it, would end the process. */
static void *
brotli_alloc(void *opaque, size_t n)
{
	struct brotli *b = opaque;
	struct block *block = mem_alloc(sizeof(*block) + n);

	if (!block)
		longjmp(b->no_memory, 1);
	list_append(&b->blocks, &block->link);
	return block + 1;
}

static void
brotli_release(void *opaque unused, void *p)
{
	struct block *block = p ? (struct block *)p - 1 : NULL;

	if (!block)
		return;
	list_remove(&block->link);
	mem_free(block);
}

/* Frees the encoder without its own end function, which would read what it was changing. */
static void
drop_encoder(struct brotli *b)
{
	b->encoder = NULL;
	while (!list_is_empty(&b->blocks)) {
		struct block *block = list_entry(b->blocks.next, struct block, link);

		list_remove(&block->link);
		mem_free(block);
	}
}

static void
brotli_end(void *body)
{
	drop_encoder(body);
	mem_free(body);
}

static void
make_br_encoder(struct brotli *b)
{
	BrotliEncoderState *encoder;

	if (setjmp(b->no_memory))
		return;
	encoder = BrotliEncoderCreateInstance(brotli_alloc, brotli_release, b);
	if (encoder && BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, QUALITY) &&
		BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, WINDOW_BITS))
		b->encoder = encoder;
}

static void *
brotli_begin(void)
{
	struct brotli *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	list_init(&b->blocks);
	make_br_encoder(b);
	if (b->encoder)
		return b;
	brotli_end(b);
	return NULL;
}

static size_t
run_encoder(struct brotli *b, const char *p, size_t n, int last, char *to)
{
	const uint8_t *in = (const uint8_t *)p;
	uint8_t *out = (uint8_t *)to;
	size_t room = coder_most(n);

	if (!BrotliEncoderCompressStream(b->encoder,
		    last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH, &n, &in, &room, &out,
		    NULL) || n || BrotliEncoderHasMoreOutput(b->encoder))
		return 0;
	return (size_t)((char *)out - to);
}

/* The number of bytes of a piece, or 0: they do not fit, or there is no memory. */
static size_t
brotli_compressed(struct brotli *b, const char *p, size_t n, int last, char *to)
{
	if (setjmp(b->no_memory))
		return 0;
	return run_encoder(b, p, n, last, to);
}

/* Puts a piece in an uncompressed meta-block (RFC 7932, 9.2). The stream's header is one bit, which
 * stands before it: a window of 16 bits. */
static size_t
brotli_stored(const struct brotli *b, const char *p, size_t n, int last, char *to)
{
	uint32_t bits = n ? (uint32_t)(n - 1) << 3 | 1u << 19 : 0;
	size_t put = 0;

	if (!b->has_begun)
		bits <<= 1;
	if (n) {
		for (; put < STORED_HEADER; put++)
			to[put] = (char)(bits >> 8 * put);
		memcpy(to + put, p, n);
		put += n;
	}
	if (last)
		to[put++] = n || b->has_begun ? END : END << 1;
	return put;
}

static size_t
brotli_piece(void *body, const char *p, size_t n, int last, char *to)
{
	struct brotli *b = body;
	size_t put = 0;

	if (!n && !last)
		return 0;
	if (b->encoder)
		put = brotli_compressed(b, p, n, last, to);
	if (!put) {
		drop_encoder(b);
		put = brotli_stored(b, p, n, last, to);
	}
	b->has_begun = 1;
	return put;
}

const struct coder coder_br = {
	.package = "libbrotli-dev",
	.memory = 768u << 10,
	.begin = brotli_begin,
	.piece = brotli_piece,
	.end = brotli_end,
};
#else
const struct coder coder_br = { .package = "libbrotli-dev" };
#endif
