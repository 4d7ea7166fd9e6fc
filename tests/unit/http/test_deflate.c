/* Compressed bodies, as zlib's inflate() reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "http/deflate.h"
#include "sim/dice.h"
#include "unit/test.h"

#define MOST 65535u
#define BODY (4u * MOST)

static const int window_bits[] = { [DEFLATE_RAW] = -15, [DEFLATE_ZLIB] = 15, [DEFLATE_GZIP] = 31 };
static char body[BODY], packed[2 * BODY], read_back[BODY + 1];

/* Compresses the first n bytes of `body` in pieces of up to `piece`; the end is marked with the
 * last one, or comes alone. Returns the length. */
static size_t
pack(struct deflate *d, enum deflate_format format, size_t n, size_t piece, int end_alone)
{
	struct deflate_body b = { .format = (uint8_t)format };
	size_t at = 0, put = 0;

	do {
		size_t len = MIN(piece, n - at);
		int last = at + len == n && !end_alone;
		size_t got = deflate_piece(d, &b, body + at, len, last, packed + put);

		assert_true(got <= deflate_most(len));
		put += got;
		at += len;
	} while (at < n);
	if (end_alone)
		put += deflate_piece(d, &b, NULL, 0, 1, packed + put);
	return put;
}

/* Returns the result of inflate() on n bytes; *out: the number of bytes it has made. */
static int
unpack(enum deflate_format format, size_t n, size_t *out)
{
	z_stream z = { .next_in = (Bytef *)packed, .avail_in = (uInt)n,
		.next_out = (Bytef *)read_back, .avail_out = sizeof(read_back) };
	int r;

	assert_int_equal(inflateInit2(&z, window_bits[format]), Z_OK);
	r = inflate(&z, Z_SYNC_FLUSH);
	*out = sizeof(read_back) - z.avail_out;
	if (r == Z_STREAM_END)
		assert_int_equal(z.avail_in, 0);
	(void)inflateEnd(&z);
	return r;
}

static void
fill_with_text(size_t n)
{
	static const char words[] = "<li class=\"item\"><a href=\"/page/%zu\">item %zu</a></li>\n";
	size_t at = 0;

	for (size_t i = 0; at < n; i++)
		at += (size_t)snprintf(body + at, n - at, words, i * 7919 % 1000, i);
}

static void
fill_with_noise(size_t n)
{
	struct dice d = dice_seed(n);

	for (size_t i = 0; i < n; i++)
		body[i] = (char)dice(&d, 256);
}

static void
check(struct deflate *d, size_t n, size_t piece)
{
	for (int format = DEFLATE_RAW; format <= DEFLATE_GZIP; format++)
		for (int alone = 0; alone < 2; alone++) {
			size_t len = pack(d, (enum deflate_format)format, n, piece, alone), out;

			assert_int_equal(unpack((enum deflate_format)format, len, &out),
				Z_STREAM_END);
			assert_int_equal(out, n);
			assert_memory_equal(read_back, body, n);
		}
}

static void
each_level(void (*fill)(size_t n))
{
	static const size_t sizes[] = { 0, 1, 2, 100, 1000, 16000, MOST, BODY };
	static const size_t pieces[] = { 1, 7, 500, 15360, MOST };

	for (int level = 1; level <= DEFLATE_LEVEL_MAX; level += 4) {
		struct deflate_conf conf = { level, level == 5 ? 8 : 15, level == 5 ? 1 : 8 };
		struct deflate *d = deflate_new(&conf);

		assert_non_null(d);
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			for (size_t j = 0; j < ARRAY_LEN(pieces); j++) {
				if (sizes[i] / pieces[j] > 2000)
					continue;
				fill(sizes[i]);
				check(d, sizes[i], pieces[j]);
			}
		deflate_free(&d);
	}
}

static void
test_text(void **st)
{
	(void)st;
	each_level(fill_with_text);
}

static void
test_noise(void **st)
{
	(void)st;
	each_level(fill_with_noise);
}

/* A body that is cut, wherever, has no valid end: all bytes that came can be read. */
static void
test_cut(void **st)
{
	struct deflate_conf conf = { 1, 15, 8 };
	struct deflate *d = deflate_new(&conf);
	size_t n = 3000, len, out;

	(void)st;
	assert_non_null(d);
	fill_with_text(n);
	for (int format = DEFLATE_RAW; format <= DEFLATE_GZIP; format++) {
		len = pack(d, (enum deflate_format)format, n, 700, 1);
		for (size_t cut = 1; cut < len; cut++)
			assert_int_not_equal(unpack((enum deflate_format)format, cut, &out),
				Z_STREAM_END);
	}
	deflate_free(&d);
}

/* The ratio is that of level 1 at least; a level above compresses better. */
static void
test_ratio(void **st)
{
	struct deflate_conf fast = { 1, 15, 8 }, slow = { 9, 15, 9 };
	struct deflate *a = deflate_new(&fast), *b = deflate_new(&slow);
	size_t at_1, at_9;

	(void)st;
	assert_true(a && b);
	fill_with_text(BODY);
	at_1 = pack(a, DEFLATE_GZIP, BODY, 15360, 0);
	at_9 = pack(b, DEFLATE_GZIP, BODY, 15360, 0);
	assert_true(at_1 < BODY / 4);
	assert_true(at_9 <= at_1);
	print_message("level 1: %u to %zu, level 9: %zu\n", BODY, at_1, at_9);
	deflate_free(&a);
	deflate_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
