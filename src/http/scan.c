/* Character classes and scans for the parser, 16 bytes at a time where the CPU can. Pure;
 * nothing is read beyond the given length. */
#include "http/scan.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* 16 bytes per row; test_scan checks the table against the grammar. */
const unsigned char http_class[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	2, 15, 6, 3, 15, 7, 15, 15, 14, 14, 15, 15, 6, 15, 15, 6,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 6, 14, 6, 14, 6, 6,
	6, 47, 47, 47, 47, 47, 47, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 6, 6, 6, 7, 15,
	7, 47, 47, 47, 47, 47, 47, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 6, 7, 6, 15, 0,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
};

size_t
http_scan_plain(const char *p, size_t n, enum http_class class)
{
	size_t i = 0;

	while (i < n && http_is(p[i], class))
		i++;
	return i;
}

/*
 * Sixteen bytes at a time, with the compiler's vector extension, which produces SSE2 and NEON code.
 * Only the search for the first unset lane differs.
 */
#if (defined(__SSE2__) || defined(__ARM_NEON)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#define LANES 16
typedef uint8_t vec __attribute__((vector_size(LANES)));
typedef uint64_t half __attribute__((vector_size(LANES)));

static inline vec
load_16(const char *p)
{
	vec v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* In a vector of 0 and 0xff: the first lane that is 0, or LANES. */
static inline unsigned int
first_unset(vec v)
{
#ifdef __SSE2__
	unsigned int set = (unsigned int)_mm_movemask_epi8((__m128i)v);

	return (unsigned int)__builtin_ctz(~set);
#else
	half h = (half)~v;

	if (h[0])
		return (unsigned int)__builtin_ctzll(h[0]) / 8;
	return h[1] ? 8 + (unsigned int)__builtin_ctzll(h[1]) / 8 : LANES;
#endif
}

static inline vec
value_lanes(vec v)
{
	return (vec)((v >= 0x20) & (v != 0x7f)) | (vec)(v == '\t');
}

static inline vec
target_lanes(vec v)
{
	return (vec)((v - 0x21 <= 0x7e - 0x21) & (v != '#'));
}

/* The most frequent bytes of a token: letters, digits, '-', '_'. */
static inline vec
word_lanes(vec v)
{
	vec letter = (v | 0x20) - 'a';

	return (vec)(letter <= 'z' - 'a') | (vec)(v - '0' <= 9) | (vec)(v == '-') |
	       (vec)(v == '_');
}

#define SCAN(p, n, lanes, class) \
	do { \
		size_t at = 0; \
\
		for (; n - at >= LANES; at += LANES) { \
			unsigned int run = first_unset(lanes(load_16(p + at))); \
\
			if (run < LANES) \
				return at + run; \
		} \
		return at + http_scan_plain(p + at, n - at, class); \
	} while (0)

size_t
http_scan_value(const char *p, size_t n)
{
	SCAN(p, n, value_lanes, HTTP_C_VALUE);
}

size_t
http_scan_target(const char *p, size_t n)
{
	SCAN(p, n, target_lanes, HTTP_C_TARGET);
}

/* Where the vector scan stops, the table decides, since it has the rare bytes too. */
size_t
http_scan_token(const char *p, size_t n)
{
	size_t at = 0;

	while (n - at >= LANES) {
		unsigned int run = first_unset(word_lanes(load_16(p + at)));

		at += run;
		if (run == LANES)
			continue;
		if (!http_is(p[at], HTTP_C_TOKEN))
			return at;
		at++;
	}
	return at + http_scan_plain(p + at, n - at, HTTP_C_TOKEN);
}

#else

size_t
http_scan_value(const char *p, size_t n)
{
	return http_scan_plain(p, n, HTTP_C_VALUE);
}

size_t
http_scan_target(const char *p, size_t n)
{
	return http_scan_plain(p, n, HTTP_C_TARGET);
}

size_t
http_scan_token(const char *p, size_t n)
{
	return http_scan_plain(p, n, HTTP_C_TOKEN);
}

#endif
