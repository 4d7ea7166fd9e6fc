/* The libraries' own decoders of coders. */
#ifndef TACIT_UNIT_CODER_RIG_H
#define TACIT_UNIT_CODER_RIG_H

#include <stdint.h>
#ifdef TACIT_BROTLI
#include <brotli/decode.h>
#endif
#ifdef TACIT_ZSTD
#include <zstd.h>
#endif

#include "base/compiler.h"
#include "http/coder.h"
#include "unit/test.h"

static inline int
unpack_br(const char *p unused, size_t n unused, char *to unused, size_t room unused,
	size_t *out unused)
{
	int r = 0;

#ifdef TACIT_BROTLI
	BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	const uint8_t *in = (const uint8_t *)p;
	uint8_t *at = (uint8_t *)to;

	assert_non_null(s);
	r = BrotliDecoderDecompressStream(s, &n, &in, &room, &at, NULL);
	assert_int_not_equal(r, BROTLI_DECODER_RESULT_ERROR);
	r = r == BROTLI_DECODER_RESULT_SUCCESS;
	assert_true(!r || !n);
	BrotliDecoderDestroyInstance(s);
	*out = (size_t)((char *)at - to);
#endif
	return r;
}

static inline int
unpack_zstd(const char *p unused, size_t n unused, char *to unused, size_t room unused,
	size_t *out unused)
{
	int r = 0;

#ifdef TACIT_ZSTD
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer at = { to, room, 0 };
	size_t left;

	assert_non_null(z);
	left = ZSTD_decompressStream(z, &at, &in);
	assert_false(ZSTD_isError(left));
	assert_int_equal(in.pos, n);
	(void)ZSTD_freeDCtx(z);
	*out = at.pos;
	r = left == 0;
#endif
	return r;
}

/* True if p[0..n) is a complete body; *out: the number of bytes it was made of, which are at
 * `to`. */
static inline int
coder_unpack(const struct coder *coder, const char *p, size_t n, char *to, size_t room,
	size_t *out)
{
	*out = 0;
	return (coder == &coder_br ? unpack_br : unpack_zstd)(p, n, to, room, out);
}

#endif
