/* Hash functions that HAProxy's configuration names. Pure, any thread: the same input must give
 * the value that HAProxy computes, since it decides which server is chosen. */
#include "base/hash.h"

uint32_t
hash_sdbm(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint32_t h = 0;

	while (n-- > 0)
		h = *s++ + (h << 6) + (h << 16) - h;
	return h;
}

uint32_t
hash_djb2(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint32_t h = 5381;

	while (n-- > 0)
		h = (h << 5) + h + *s++;
	return h;
}

/* CRC32 with a table of 16 entries, four bits at a time: it is computed at most once per
 * request. */
uint32_t
hash_crc32(const void *p, size_t n)
{
	static const uint32_t row[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const unsigned char *s = p;
	uint32_t h = ~UINT32_C(0);

	for (; n-- > 0; s++) {
		h = row[(h ^ *s) & 15] ^ (h >> 4);
		h = row[(h ^ (*s >> 4)) & 15] ^ (h >> 4);
	}
	return ~h;
}

uint32_t
hash_crc32c(uint32_t h, const void *p, size_t n)
{
	static const uint32_t row[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const unsigned char *s = p;

	for (h = ~h; n-- > 0; s++) {
		h = row[(h ^ *s) & 15] ^ (h >> 4);
		h = row[(h ^ (*s >> 4)) & 15] ^ (h >> 4);
	}
	return ~h;
}

uint32_t
hash_avalanche(uint32_t h)
{
	h = (h + 0x7ed55d16) + (h << 12);
	h = (h ^ 0xc761c23c) ^ (h >> 19);
	h = (h + 0x165667b1) + (h << 5);
	h = (h + 0xd3a2646c) ^ (h << 9);
	h = (h + 0xfd7046c5) + (h << 3);
	h = (h ^ 0xb55a4f09) ^ (h >> 16);
	/* Not in Jenkins' text: the lowest two bits are added to the highest two, as HAProxy's
	 * values show. */
	return h * 0xc0000001;
}
