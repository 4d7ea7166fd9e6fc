/* Bodies compressed by Brotli and Zstandard, as the libraries' own decoders read them, also when a
 * body has no memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/coder.h"
#include "sim/dice.h"
#include "sim/faults.h"
#include "unit/http/coder_rig.h"

#define MOST 65535u
#define BODY (4u * MOST)

static char body[BODY], packed[2 * BODY], read_back[BODY + 1];
/* Bytes that a body has now, and the most that one had. */
static size_t held, most_held;
/* The n-th call of the library from now on fails; 0: none does. */
static unsigned int zstd_fails;

/* Before each block. */
struct weighed {
	_Alignas(16) size_t n;
};

void *__real_mem_alloc(size_t n);
void *__wrap_mem_alloc(size_t n);
void *__wrap_mem_zalloc(size_t n);
void __real_mem_free(void *p);
void __wrap_mem_free(void *p);

void *
__wrap_mem_alloc(size_t n)
{
	struct weighed *w = __real_mem_alloc(sizeof(*w) + n);

	if (!w)
		return NULL;
	w->n = n;
	held += n;
	most_held = MAX(most_held, held);
	return w + 1;
}

void *
__wrap_mem_zalloc(size_t n)
{
	void *p = __wrap_mem_alloc(n);

	return p ? memset(p, 0, n) : NULL;
}

void
__wrap_mem_free(void *p)
{
	struct weighed *w = p ? (struct weighed *)p - 1 : NULL;

	held -= w ? w->n : 0;
	__real_mem_free(w);
}

#ifdef TACIT_ZSTD
size_t __real_ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
	ZSTD_EndDirective end);
size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
	ZSTD_EndDirective end);

size_t
__wrap_ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
	ZSTD_EndDirective end)
{
	if (zstd_fails && !--zstd_fails)
		return (size_t)-1;
	return __real_ZSTD_compressStream2(z, out, in, end);
}

size_t __real_ZSTD_freeCCtx(ZSTD_CCtx *z);
size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *z);

size_t
__wrap_ZSTD_freeCCtx(ZSTD_CCtx *z)
{
	most_held = MAX(most_held, ZSTD_sizeof_CCtx(z));
	return __real_ZSTD_freeCCtx(z);
}
#endif

/* Compresses the first n bytes of `body` in pieces of up to `piece`; the end is marked with the
 * last one, or comes alone. Returns the length; 0: the body could not begin. */
static size_t
pack(const struct coder *coder, size_t n, size_t piece, int end_alone)
{
	void *b = coder->begin();
	size_t at = 0, put = 0;

	if (!b)
		return 0;
	do {
		size_t len = MIN(piece, n - at);
		int last = at + len == n && !end_alone;
		size_t got = coder->piece(b, body + at, len, last, packed + put);

		assert_true(got <= coder_most(len));
		put += got;
		at += len;
	} while (at < n);
	if (end_alone)
		put += coder->piece(b, NULL, 0, 1, packed + put);
	coder->end(b);
	return put;
}

/* True if n bytes are a complete body; *out: the number of bytes that were compressed. */
static int
unpack(const struct coder *coder, size_t n, size_t *out)
{
	return coder_unpack(coder, packed, n, read_back, sizeof(read_back), out);
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

/* Text and noise by turns, so that a failed piece stands among others. */
static void
fill_with_both(size_t n)
{
	struct dice d = dice_seed(n);

	fill_with_text(n);
	for (size_t i = 0; i < n; i++)
		if (i / 3000 % 2)
			body[i] = (char)dice(&d, 256);
}

static void
check_packed(const struct coder *coder, size_t len, size_t n)
{
	size_t out;

	assert_true(unpack(coder, len, &out));
	assert_int_equal(out, n);
	assert_memory_equal(read_back, body, n);
}

static void
each_body(const struct coder *coder, void (*fill)(size_t n))
{
	static const size_t sizes[] = { 0, 1, 2, 100, 1000, 16000, MOST, BODY };
	static const size_t pieces[] = { 1, 7, 500, 8192, 15360, MOST };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t j = 0; j < ARRAY_LEN(pieces); j++) {
			if (sizes[i] / pieces[j] > 2000)
				continue;
			fill(sizes[i]);
			for (int alone = 0; alone < 2; alone++)
				check_packed(coder, pack(coder, sizes[i], pieces[j], alone),
					sizes[i]);
		}
}

static void
test_bodies(const struct coder *coder)
{
	each_body(coder, fill_with_text);
	each_body(coder, fill_with_noise);
	each_body(coder, fill_with_both);
}

/* A body has the memory that is counted for it, and no less than three quarters of it. */
static void
test_memory(const struct coder *coder)
{
	static void (*const fill[])(size_t n) = { fill_with_text, fill_with_noise, fill_with_both };

	most_held = held = 0;
	for (size_t i = 0; i < ARRAY_LEN(fill); i++) {
		fill[i](BODY);
		(void)pack(coder, BODY, MOST, 0);
		(void)pack(coder, BODY, 8192, 0);
	}
	print_message("%zu bytes\n", most_held);
	assert_in_range(most_held, coder->memory / 4 * 3, coder->memory);
}

/* A body that is cut, wherever, has no valid end: all bytes that came can be read. */
static void
test_cut(const struct coder *coder)
{
	size_t n = 3000, out, len;

	fill_with_text(n);
	for (int alone = 0; alone < 2; alone++) {
		len = pack(coder, n, 700, alone);
		for (size_t cut = 0; cut < len; cut++) {
			assert_false(unpack(coder, cut, &out));
			assert_memory_equal(read_back, body, out);
		}
	}
}

/* Pieces that come before a flush are read before the next ones come. */
static void
test_flushed(const struct coder *coder)
{
	void *b = coder->begin();
	size_t put = 0, out;

	assert_non_null(b);
	fill_with_text(BODY);
	for (size_t at = 0; at < 50000; at += 5000) {
		put += coder->piece(b, body + at, 5000, 0, packed + put);
		assert_false(unpack(coder, put, &out));
		assert_int_equal(out, at + 5000);
	}
	assert_int_equal(coder->piece(b, NULL, 0, 0, packed + put), 0);
	coder->end(b);
}

static void
test_ratio(const struct coder *coder)
{
	size_t n;

	fill_with_text(BODY);
	n = pack(coder, BODY, 8192, 0);
	print_message("%u bytes to %zu\n", BODY, n);
	assert_true(n < BODY / 8);
}

/* Each allocation fails once: the body is stored from there on, or does not begin. */
static void
test_br_without_memory(void)
{
	uint64_t n = 0;

	fill_with_both(50000);
	for (int hit = 1; hit; n++) {
		size_t len;

		faults_set(n + 1);
		faults_apply(1);
		len = pack(&coder_br, 50000, 5000, n % 2);
		faults_apply(0);
		hit = faults_hit();
		if (len)
			check_packed(&coder_br, len, 50000);
	}
	assert_true(n > 5);
	for (size_t bytes = 0; bytes < 2; bytes++) {
		faults_set(3);
		faults_set_again(1000);
		faults_apply(1);
		check_packed(&coder_br, pack(&coder_br, bytes, 10, 1), bytes);
		faults_apply(0);
	}
	faults_set(0);
}

/* The call that takes the memory fails, or a later one. */
static void
test_zstd_fails(void)
{
	fill_with_both(50000);
	zstd_fails = 1;
	assert_int_equal(pack(&coder_zstd, 50000, 5000, 0), 0);
	for (unsigned int nth = 2; nth < 12; nth++) {
		zstd_fails = nth;
		check_packed(&coder_zstd, pack(&coder_zstd, 50000, 5000, nth % 2), 50000);
	}
	/* A block is no longer than the window, a piece may be. */
	zstd_fails = 2;
	check_packed(&coder_zstd, pack(&coder_zstd, 50000, 50000, 0), 50000);
	zstd_fails = 2;
	check_packed(&coder_zstd, pack(&coder_zstd, 0, 1, 0), 0);
	zstd_fails = 0;
}

#define EACH(name)                     \
	static void name##_br(void **st)   \
	{                              \
		(void)st;              \
		if (coder_br.memory)   \
			name(&coder_br); \
	}                              \
	static void name##_zstd(void **st) \
	{                              \
		(void)st;              \
		if (coder_zstd.memory) \
			name(&coder_zstd); \
	}

EACH(test_bodies)
EACH(test_memory)
EACH(test_cut)
EACH(test_flushed)
EACH(test_ratio)

static void
test_failures(void **st)
{
	(void)st;
	if (coder_br.memory)
		test_br_without_memory();
	if (coder_zstd.memory)
		test_zstd_fails();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies_br), cmocka_unit_test(test_bodies_zstd),
		cmocka_unit_test(test_memory_br), cmocka_unit_test(test_memory_zstd),
		cmocka_unit_test(test_cut_br), cmocka_unit_test(test_cut_zstd),
		cmocka_unit_test(test_flushed_br), cmocka_unit_test(test_flushed_zstd),
		cmocka_unit_test(test_ratio_br), cmocka_unit_test(test_ratio_zstd),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
