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
	2, 79, 6, 67, 79, 71, 79, 79, 14, 14, 79, 79, 6, 79, 79, 6,
	127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 6, 14, 6, 14, 6, 6,
	6, 47, 47, 47, 47, 47, 47, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 6, 6, 6, 71, 79,
	71, 111, 111, 111, 111, 111, 111, 79, 79, 79, 79, 79, 79, 79, 79, 79,
	79, 79, 79, 79, 79, 79, 79, 79, 79, 79, 79, 6, 71, 6, 79, 0,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
};

/* The portable version of all. */
static size_t
scan_plain(const char *p, size_t n, enum http_class class)
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

/* The letters of names in HTTP/2. */
static inline vec
lower_lanes(vec v)
{
	return (vec)(v - 'a' <= 'z' - 'a') | (vec)(v - '0' <= 9) | (vec)(v == '-') |
	       (vec)(v == '_');
}

/* The most frequent bytes of a host. */
static inline vec
host_lanes(vec v)
{
	return word_lanes(v) | (vec)(v == '.');
}

/* All of 4 to 15 bytes, some of them twice. */
static inline vec
load_short(const char *p, size_t n)
{
	half h = { 0 };
	uint64_t a, b;
	uint32_t c, d;

	if (n >= 8) {
		memcpy(&a, p, 8);
		memcpy(&b, p + n - 8, 8);
	} else {
		memcpy(&c, p, 4);
		memcpy(&d, p + n - 4, 4);
		a = b = (uint64_t)d << 32 | c;
	}
	h[0] = a;
	h[1] = b;
	return (vec)h;
}

/* The run of lanes that are set, in bytes of load_short(). */
static inline size_t
short_run(vec v, size_t n)
{
	size_t run = first_unset(v), part = n >= 8 ? 8 : 4;

	if (run == LANES)
		return n;
	return run < part ? run : n - 2 * part + run;
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
		if (n - at >= 4) \
			return at + short_run(lanes(load_short(p + at, n - at)), n - at); \
		return at + scan_plain(p + at, n - at, class); \
	} while (0)

/* The same for a class of which the lanes know the frequent bytes only: where a vector scan stops,
 * the table decides. */
#define SCAN_FREQUENT(p, n, lanes, class) \
	do { \
		size_t at = 0; \
\
		while (n - at >= LANES) { \
			unsigned int run = first_unset(lanes(load_16(p + at))); \
\
			at += run; \
			if (run == LANES) \
				continue; \
			if (!http_is(p[at], class)) \
				return at; \
			at++; \
		} \
		if (n - at >= 4) \
			at += short_run(lanes(load_short(p + at, n - at)), n - at); \
		return at + scan_plain(p + at, n - at, class); \
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

size_t
http_scan_token(const char *p, size_t n)
{
	SCAN_FREQUENT(p, n, word_lanes, HTTP_C_TOKEN);
}

size_t
http_scan_lower(const char *p, size_t n)
{
	SCAN_FREQUENT(p, n, lower_lanes, HTTP_C_LOWER);
}

size_t
http_scan_name(const char *p, size_t n)
{
	SCAN_FREQUENT(p, n, host_lanes, HTTP_C_NAME);
}

#else

size_t
http_scan_value(const char *p, size_t n)
{
	return scan_plain(p, n, HTTP_C_VALUE);
}

size_t
http_scan_target(const char *p, size_t n)
{
	return scan_plain(p, n, HTTP_C_TARGET);
}

size_t
http_scan_token(const char *p, size_t n)
{
	return scan_plain(p, n, HTTP_C_TOKEN);
}

size_t
http_scan_name(const char *p, size_t n)
{
	return scan_plain(p, n, HTTP_C_NAME);
}

size_t
http_scan_lower(const char *p, size_t n)
{
	return scan_plain(p, n, HTTP_C_LOWER);
}

#endif
