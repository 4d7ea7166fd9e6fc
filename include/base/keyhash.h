/*
 * A keyed hash for tables whose keys clients may choose. It can be computed byte by byte, so that
 * all prefixes of a text are hashed in one pass.
 *
 * It is a polynomial evaluated at a secret point, modulo the prime 2^61-1: two different texts
 * shorter than 7 n bytes have the same value for at most n of the 2^60 points (Carter and Wegman,
 * Universal classes of hash functions, 1979; as a polynomial: Bernstein, The Poly1305-AES
 * message-authentication code, 2005). The final step multiplies by a secret odd number, and the
 * upper bits select the slot: two values share one of m slots for at most a fraction 2 / m of these
 * numbers (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem,
 * 1997).
 *
 * This protects a table against keys chosen without knowledge of the secret, at the cost of one
 * multiplication per seven bytes. It is not a pseudo-random function as SipHash is: hashes must not
 * be shown, and a client that can measure which of its keys collide learns about the secret.
 */
#ifndef TACIT_BASE_KEYHASH_H
#define TACIT_BASE_KEYHASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

struct sys;

struct keyhash {
	uint64_t point; /* below 2^60, times 8 */
	uint64_t stir;  /* odd */
};

/* A fixed, known key: for tests, and where clients choose no keys. */
extern const struct keyhash keyhash_known;

/* A key made of 16 arbitrary bytes. */
void keyhash_init(struct keyhash *k, const uint64_t bits[2]);
/* A key made of the kernel's random bytes. 0 or -errno. */
int keyhash_draw(struct keyhash *k, struct sys *sys) must_check;

/*
 * Appends one digit of the polynomial, from 1 to 2^57, to the state h; the initial state is 0.
 * Because of the factor 8 the product's upper half is what exceeds 2^61, which is added once more.
 * Remainders are not fully reduced before the end, but never exceed 2^63.
 */
static inline uint64_t
keyhash_digit(const struct keyhash *k, uint64_t h, uint64_t digit)
{
	unsigned __int128 x = (unsigned __int128)h * k->point;

	return (uint64_t)(x >> 64) + ((uint64_t)x >> 3) + digit;
}

/* The hash of the state h. It first mixes the state with a public function: that keeps runs of
 * slots short in tables with linear probing when keys are similar. */
static inline uint64_t
keyhash_end(const struct keyhash *k, uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	return h * k->stir;
}

/* Appends two digits, neither of them 0. */
static inline uint64_t
keyhash_number(const struct keyhash *k, uint64_t h, uint64_t v)
{
	return keyhash_digit(k, keyhash_digit(k, h, (v >> 32) + 1), (v & UINT32_MAX) + 1);
}

/* The state of a text that is hashed piece by piece. */
struct keyhash_text {
	uint64_t h;     /* state after the complete digits of seven bytes */
	uint64_t digit; /* a leading 1, then the bytes of the incomplete digit */
};

#define KEYHASH_TEXT { 0, 1 } /* empty */

static inline void
keyhash_byte(const struct keyhash *k, struct keyhash_text *t, unsigned char c)
{
	t->digit = t->digit << 8 | c;
	if (t->digit >> 56) {
		t->h = keyhash_digit(k, t->h, t->digit);
		t->digit = 1;
	}
}

/* The hash of the bytes so far; more may follow. */
static inline uint64_t
keyhash_so_far(const struct keyhash *k, const struct keyhash_text *t)
{
	return keyhash_end(k, keyhash_digit(k, t->h, t->digit));
}

/* One of n slots, a power of two: the hash's upper bits. */
static inline uint32_t
keyhash_slot(uint64_t hash, uint32_t n)
{
	return (uint32_t)((hash >> 32) * n >> 32);
}

/* The hash of a text of four bytes: an IPv4 address, a number. */
static inline uint64_t
keyhash_four(const struct keyhash *k, const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	/* 0 is the state of an empty text: the digit is all of it. */
	return keyhash_end(k, UINT64_C(1) << 32 | be32toh(v));
}

/* Hashes a whole text. */
uint64_t keyhash(const struct keyhash *k, const char *p, size_t n);

#endif
