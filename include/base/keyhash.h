/*
 * A hash that clients cannot predict, for tables whose keys they may choose. It grows a byte at a
 * time, so that all beginnings of a text are hashed in one pass.
 *
 * It is a polynomial in a secret point, modulo the prime 2^61-1: two different texts of less than
 * 7 n bytes have one value under at most n of its 2^60 points, whatever the texts (Carter and
 * Wegman, Universal classes of hash functions, 1979; as a polynomial: Bernstein, The Poly1305-AES
 * message-authentication code, 2005). At its end stands a multiplication by a secret odd number,
 * whose upper bits choose the slot: two values share one of m slots under at most a fraction of
 * 2 / m of these numbers (Dietzfelbinger et al., A reliable randomized algorithm for the
 * closest-pair problem, 1997).
 *
 * That is all a table needs against keys that are chosen without knowing the secret, at the cost of
 * a multiplication for seven bytes. So neither it nor a hash made with it may be shown. It is no
 * pseudo-random function as SipHash is: a client that could measure, through the noise of a
 * network, which of its keys collide would learn about the secret.
 */
#ifndef TACIT_BASE_KEYHASH_H
#define TACIT_BASE_KEYHASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct sys;

struct keyhash {
	uint64_t point; /* below 2^60, times 8 */
	uint64_t stir;  /* odd */
};

/* One that is no secret: for tests, and where clients choose no keys. */
extern const struct keyhash keyhash_known;

/* Of 16 bytes, any. */
void keyhash_init(struct keyhash *k, const uint64_t bits[2]);
/* A secret one, of the kernel's random bytes. 0 or -errno. */
int keyhash_draw(struct keyhash *k, struct sys *sys) must_check;

/*
 * One more digit of the polynomial, from 1 to 2^57, behind what gave h; nothing gave 0. Times 8 the
 * product's upper half is what is above 2^61, which counts once more. No remainder is whole before
 * the end, but none is above 2^63 either.
 */
static inline uint64_t
keyhash_digit(const struct keyhash *k, uint64_t h, uint64_t digit)
{
	unsigned __int128 x = (unsigned __int128)h * k->point;

	return (uint64_t)(x >> 64) + ((uint64_t)x >> 3) + digit;
}

/* The hash of what gave h. What keys have in common is stirred away first, which takes no secret:
 * that keeps runs of slots short, where one key that is taken moves on to the next. */
static inline uint64_t
keyhash_end(const struct keyhash *k, uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	return h * k->stir;
}

/* Two digits, of which none is 0. */
static inline uint64_t
keyhash_number(const struct keyhash *k, uint64_t h, uint64_t v)
{
	return keyhash_digit(k, keyhash_digit(k, h, (v >> 32) + 1), (v & UINT32_MAX) + 1);
}

/* A text, of which some bytes have come. */
struct keyhash_text {
	uint64_t h;     /* of whole digits, of seven bytes */
	uint64_t digit; /* a 1, and the bytes since */
};

#define KEYHASH_TEXT { 0, 1 } /* nothing yet */

static inline void
keyhash_byte(const struct keyhash *k, struct keyhash_text *t, unsigned char c)
{
	t->digit = t->digit << 8 | c;
	if (t->digit >> 56) {
		t->h = keyhash_digit(k, t->h, t->digit);
		t->digit = 1;
	}
}

/* The hash of what has come so far; more may follow. */
static inline uint64_t
keyhash_so_far(const struct keyhash *k, const struct keyhash_text *t)
{
	return keyhash_end(k, keyhash_digit(k, t->h, t->digit));
}

/* Of n slots, a power of two: the hash's upper bits. */
static inline uint32_t
keyhash_slot(uint64_t hash, uint32_t n)
{
	return (uint32_t)((hash >> 32) * n >> 32);
}

/* Of a whole text. */
uint64_t keyhash(const struct keyhash *k, const char *p, size_t n);

#endif
