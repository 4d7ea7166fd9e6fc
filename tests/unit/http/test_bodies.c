/* Random bodies in random pieces by every algorithm: a decoder reads the same bytes, and behind
 * pieces, where a server may pause, all that has come. TACIT_SLOW: a hundred thousand of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "http/deflate.h"
#include "sim/dice.h"
#include "unit/http/coder_rig.h"

#define MOST (10u << 20)
#define PIECE_MOST 65535u

static char body[MOST], packed[MOST + MOST / 8], read_back[MOST + 1], noise[1 << 16];

/* The way of a body: by a coder, or by the deflate of a worker in one of its formats. */
struct way {
	const struct coder *coder;
	void *own;
	struct deflate_body shared;
};

static size_t
pack_piece(struct way *w, struct deflate *d, const char *p, size_t n, int last, char *to)
{
	size_t got = w->coder ? w->coder->piece(w->own, p, n, last, to)
			      : deflate_piece(d, &w->shared, p, n, last, to);

	assert_true(got <= (w->coder ? coder_most(n) : deflate_most(n)));
	return got;
}

/* True if n bytes are complete; *out: what they were made of. */
static int
unpack(const struct way *w, size_t n, size_t *out)
{
	static const int bits[] = { [DEFLATE_RAW] = -15, [DEFLATE_ZLIB] = 15,
		[DEFLATE_GZIP] = 31 };
	z_stream z = { .next_in = (Bytef *)packed, .avail_in = (uInt)n,
		.next_out = (Bytef *)read_back, .avail_out = sizeof(read_back) };
	int r;

	if (w->coder)
		return coder_unpack(w->coder, packed, n, read_back, sizeof(read_back), out);
	assert_int_equal(inflateInit2(&z, bits[w->shared.format]), Z_OK);
	r = inflate(&z, Z_SYNC_FLUSH);
	*out = sizeof(read_back) - z.avail_out;
	assert_true(r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR);
	(void)inflateEnd(&z);
	return r == Z_STREAM_END && !z.avail_in;
}

/* Few bodies are long: 1 kB to 100 kB, one of ten to 1 MB, one of a hundred to 10 MB. */
static size_t
random_size(struct dice *d)
{
	uint32_t x = dice(d, 100), most = x == 0 ? MOST : x < 10 ? 1u << 20 : 100u << 10;
	size_t n = 1000;

	while (n * 2 < most && !dice_is(d, x < 10 ? 12 : 6))
		n *= 2;
	n += dice(d, (uint32_t)n);
	return MIN(n, MOST);
}

static size_t
put_text(struct dice *d, size_t at, size_t end)
{
	static const char *const words[] = { "<li class=\"item\">", "</li>\n", "order ",
		"price ", "{\"id\":", ",\"name\":\"", "\"},\n", "customer ", "the ", "of a ",
		"delivery ", "\n" };

	while (at < end) {
		char number[24];
		const char *word = words[dice(d, ARRAY_LEN(words))];
		size_t len;

		if (dice_is(d, 4)) {
			(void)snprintf(number, sizeof(number), "%u", dice(d, 1000000));
			word = number;
		}
		len = MIN(strlen(word), end - at);
		memcpy(body + at, word, len);
		at += len;
	}
	return at;
}

/* Parts of text, of noise (as compressed data is), of runs, and of what came before. */
static void
fill(struct dice *d, size_t n)
{
	uint32_t kind = dice(d, 5);
	size_t at = 0;

	while (at < n) {
		size_t len = 1 + dice(d, 100000), end = MIN(n, at + len);
		size_t from = dice(d, sizeof(noise));
		uint32_t what = kind == 4 ? dice(d, 4) : kind;

		if (what == 0)
			at = put_text(d, at, end);
		else if (what == 3 && at)
			for (from = dice(d, (uint32_t)at); at < end; at++)
				body[at] = body[from++];
		else if (what == 2)
			for (; at < end; at++)
				body[at] = noise[from];
		else
			for (; at < end; at++)
				body[at] = noise[from++ % sizeof(noise)];
	}
}

static void
check_all_read(const struct way *w, size_t put, size_t n, int last)
{
	size_t out;

	assert_int_equal(unpack(w, put, &out), last);
	assert_int_equal(out, n);
	assert_memory_equal(read_back, body, n);
}

static void
play(struct way *w, struct deflate *d, struct dice *dice_of)
{
	size_t n = random_size(dice_of), most = 1u << dice(dice_of, 17), at = 0, put = 0;
	int last = 0;

	most = MAX(most, n / 2000 + 1);
	fill(dice_of, n);
	if (w->coder)
		w->own = w->coder->begin();
	assert_true(!w->coder || w->own);
	while (!last) {
		size_t len = 1 + dice(dice_of, (uint32_t)most);

		len = MIN(len, MIN(n - at, PIECE_MOST));
		/* The end may come alone. */
		last = at == n || (at + len == n && dice_is(dice_of, 2));
		put += pack_piece(w, d, body + at, len, last, packed + put);
		at += len;
		if (!last && n < 100000 && dice_is(dice_of, 50))
			check_all_read(w, put, at, 0);
	}
	check_all_read(w, put, n, 1);
	if (w->coder)
		w->coder->end(w->own);
}

static void
test_random_bodies(void **st)
{
	struct deflate_conf conf = { 1, 15, 8 };
	struct deflate *d = deflate_new(&conf);
	unsigned int bodies = (getenv("TACIT_SLOW") ? 100000 : 500) / test_every();
	struct dice dice_of = dice_seed(1);

	(void)st;
	assert_non_null(d);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)dice(&dice_of, 256);
	for (unsigned int seed = 0; seed < bodies; seed++) {
		const struct coder *coder = seed % 5 == 3 ? &coder_br
			: seed % 5 == 4 ? &coder_zstd : NULL;
		struct way w = { .coder = coder && coder->memory ? coder : NULL,
			.shared.format = (uint8_t)(seed % 5 % 3) };

		dice_of = dice_seed(seed);
		play(&w, d, &dice_of);
	}
	print_message("%u bodies\n", bodies);
	deflate_free(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_bodies) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
