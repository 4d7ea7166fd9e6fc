/* Random choices from a seed, or from a fuzzer's bytes (zeroes at their end). */
#ifndef TACIT_SIM_DICE_H
#define TACIT_SIM_DICE_H

#include <stddef.h>
#include <stdint.h>

struct dice {
	const uint8_t *data; /* NULL: state decides */
	size_t size;
	uint64_t state;
};

static inline struct dice
dice_seed(uint64_t seed)
{
	return (struct dice){ .state = seed * 0x9e3779b97f4a7c15u + 1 };
}

static inline struct dice
dice_bytes(const uint8_t *data, size_t size)
{
	return (struct dice){ .data = data, .size = size };
}

static inline uint32_t
dice_byte(struct dice *d)
{
	if (!d->size)
		return 0;
	d->size--;
	return *d->data++;
}

/* 0 <= result < n. */
static inline uint32_t
dice(struct dice *d, uint32_t n)
{
	uint64_t x;

	if (d->data) {
		x = dice_byte(d);
		if (n > 256)
			x = x << 8 | dice_byte(d);
		if (n > 65536)
			x = x << 8 | dice_byte(d);
		return (uint32_t)(x % n);
	}
	/* splitmix64 */
	d->state += 0x9e3779b97f4a7c15u;
	x = d->state;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((x ^ x >> 31) % n);
}

/* With probability 1 / n. */
static inline int
dice_is(struct dice *d, uint32_t n)
{
	return dice(d, n) == n - 1;
}

#endif
