/* The hash of keys that clients may choose. Its secret is drawn once, before workers start, and
 * only read after that. */
#include "base/keyhash.h"

#include <errno.h>

#include "base/sys.h"

/* Arbitrary numbers: digits of pi and of e. */
#define KNOWN_POINT UINT64_C(0x243f6a8885a308d3)
#define KNOWN_STIR UINT64_C(0xb7e151628aed2a6b)
#define POINT(bits) ((bits) >> 4 << 3)

const struct keyhash keyhash_known = { POINT(KNOWN_POINT), KNOWN_STIR };

void
keyhash_init(struct keyhash *k, const uint64_t bits[2])
{
	k->point = POINT(bits[0]);
	k->stir = bits[1] | 1;
}

int
keyhash_draw(struct keyhash *k, struct sys *sys)
{
	uint64_t bits[2];
	long r = sys_getrandom(sys, bits, sizeof(bits), 0);

	if (r < 0)
		return (int)r;
	/* The kernel returns this few bytes at once, or none. */
	if (r != sizeof(bits))
		return -EIO;
	keyhash_init(k, bits);
	return 0;
}

/* The digit of seven bytes; there is an eighth one. */
static uint64_t
digit_of_seven(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return UINT64_C(1) << 56 | be64toh(v) >> 8;
}

uint64_t
keyhash(const struct keyhash *k, const char *p, size_t n)
{
	struct keyhash_text t = KEYHASH_TEXT;
	uint32_t v;

	for (; n > 7; n -= 7, p += 7)
		t.h = keyhash_digit(k, t.h, digit_of_seven(p));
	if (n >= sizeof(v)) {
		memcpy(&v, p, sizeof(v));
		t.digit = UINT64_C(1) << 32 | be32toh(v);
		p += sizeof(v);
		n -= sizeof(v);
	}
	for (size_t i = 0; i < n; i++)
		keyhash_byte(k, &t, (unsigned char)p[i]);
	return keyhash_so_far(k, &t);
}
