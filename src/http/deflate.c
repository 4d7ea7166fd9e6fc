/* DEFLATE by ISA-L or zlib, piece by piece. Pure but for the compressor's own memory; a piece that
 * would grow is stored as it is. */
#define ZLIB_CONST
#include "http/deflate.h"

#include <string.h>
#include <zlib.h>
#ifdef TACIT_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

#include "base/mem.h"

#define HEADER_MAX 10
#define TRAILER_MAX 8
/* The first byte of a stored block, its length, and the complement of that. */
#define STORED_HEADER 5
#define STORED_MAX 65535u
/* An empty stored block ends each piece but the last one at a byte. */
#define ALIGNMENT 5

struct deflate {
	z_stream z;
	int has_z;
#ifdef TACIT_ISAL
	int uses_isal;
	struct isal_zstream isal;
	uint8_t level_buf[ISAL_DEF_LVL1_SMALL];
#endif
};

static void *
zlib_alloc(void *opaque unused, unsigned int n, unsigned int size)
{
	return mem_zalloc((size_t)n * size);
}

static void
zlib_free(void *opaque unused, void *p)
{
	mem_free(p);
}

static int
begin_zlib(struct deflate *d, const struct deflate_conf *conf)
{
	/* zlib has no raw window of 8 bits. */
	int bits = MAX(conf->window_bits, 9);

	d->z.zalloc = zlib_alloc;
	d->z.zfree = zlib_free;
	d->has_z = deflateInit2(&d->z, conf->level, Z_DEFLATED, -bits, conf->mem_level,
		Z_DEFAULT_STRATEGY) == Z_OK;
	return d->has_z;
}

struct deflate *
deflate_new(const struct deflate_conf *conf)
{
	struct deflate *d = mem_zalloc(sizeof(*d));

	if (!d)
		return NULL;
#ifdef TACIT_ISAL
	d->uses_isal = conf->level == 1;
	if (d->uses_isal)
		return d;
#endif
	if (!begin_zlib(d, conf))
		deflate_free(&d);
	return d;
}

void
deflate_free(struct deflate **d)
{
	if (*d && (*d)->has_z)
		(void)deflateEnd(&(*d)->z);
	mem_free(*d);
	*d = NULL;
}

size_t
deflate_most(size_t n)
{
	return n + HEADER_MAX + STORED_HEADER + ALIGNMENT + TRAILER_MAX;
}

/* --- blocks: the number of bytes, or 0: they would not fit into `room` --- */

#ifdef TACIT_ISAL
static size_t
isal_blocks(struct deflate *d, const char *p, size_t n, int last, char *to, size_t room)
{
	struct isal_zstream *z = &d->isal;

	isal_deflate_stateless_init(z);
	z->level = 1;
	z->level_buf = d->level_buf;
	z->level_buf_size = sizeof(d->level_buf);
	z->flush = last ? NO_FLUSH : FULL_FLUSH;
	z->end_of_stream = (uint16_t)last;
	z->next_in = (uint8_t *)(uintptr_t)p;
	z->avail_in = (uint32_t)n;
	z->next_out = (uint8_t *)to;
	z->avail_out = (uint32_t)room;
	if (isal_deflate_stateless(z) != COMP_OK || z->avail_in)
		return 0;
	return room - z->avail_out;
}
#endif

static size_t
zlib_blocks(struct deflate *d, const char *p, size_t n, int last, char *to, size_t room)
{
	z_stream *z = &d->z;
	int r;

	(void)deflateReset(z);
	z->next_in = (const Bytef *)p;
	z->avail_in = (uInt)n;
	z->next_out = (Bytef *)to;
	z->avail_out = (uInt)room;
	r = deflate(z, last ? Z_FINISH : Z_SYNC_FLUSH);
	/* A flush that has filled the room exactly may have more. */
	if (z->avail_in || (last ? r != Z_STREAM_END : r != Z_OK || !z->avail_out))
		return 0;
	return room - z->avail_out;
}

static size_t
put_little_endian(char *to, uint32_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (char)(v >> 8 * i);
	return n;
}

static size_t
stored_block(const char *p, size_t n, int last, char *to)
{
	to[0] = (char)last;
	(void)put_little_endian(to + 1, (uint32_t)n, 2);
	(void)put_little_endian(to + 3, ~(uint32_t)n, 2);
	if (n)
		memcpy(to + STORED_HEADER, p, n);
	return STORED_HEADER + n;
}

static size_t
put_blocks(struct deflate *d, const char *p, size_t n, int last, char *to)
{
	size_t room = n + STORED_HEADER, put = 0;

	if (!n)
		return last ? stored_block(p, 0, 1, to) : 0;
#ifdef TACIT_ISAL
	if (d->uses_isal)
		put = isal_blocks(d, p, n, last, to, room);
#endif
	if (d->has_z)
		put = zlib_blocks(d, p, n, last, to, room);
	return put ? put : stored_block(p, n, last, to);
}

/* --- frames --- */

static size_t
put_header(struct deflate_body *b, char *to)
{
	static const char gzip[HEADER_MAX] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, (char)255 };

	if (b->has_begun)
		return 0;
	b->has_begun = 1;
	b->check = b->format == DEFLATE_ZLIB;
	if (b->format == DEFLATE_RAW)
		return 0;
	if (b->format == DEFLATE_GZIP) {
		memcpy(to, gzip, sizeof(gzip));
		return sizeof(gzip);
	}
	/* A window of 32 kB, the fastest level: a multiple of 31. */
	memcpy(to, "\x78\x01", 2);
	return 2;
}

static void
update_check(struct deflate_body *b, const char *p, size_t n)
{
	b->n += n;
	if (b->format == DEFLATE_RAW || !n)
		return;
	if (b->format == DEFLATE_ZLIB)
		b->check = (uint32_t)adler32(b->check, (const Bytef *)p, (uInt)n);
	else
#ifdef TACIT_ISAL
		b->check = crc32_gzip_refl(b->check, (const unsigned char *)p, n);
#else
		b->check = (uint32_t)crc32(b->check, (const Bytef *)p, (uInt)n);
#endif
}

static size_t
put_trailer(const struct deflate_body *b, char *to)
{
	if (b->format == DEFLATE_RAW)
		return 0;
	if (b->format == DEFLATE_GZIP)
		return put_little_endian(to, b->check, 4) +
			put_little_endian(to + 4, (uint32_t)b->n, 4);
	for (size_t i = 0; i < 4; i++)
		to[i] = (char)(b->check >> (24 - 8 * i));
	return 4;
}

size_t
deflate_piece(struct deflate *d, struct deflate_body *b, const char *p, size_t n, int last,
	char *to)
{
	size_t put = put_header(b, to);

	assert(n <= STORED_MAX);
	update_check(b, p, n);
	put += put_blocks(d, p, n, last, to + put);
	return last ? put + put_trailer(b, to + put) : put;
}
