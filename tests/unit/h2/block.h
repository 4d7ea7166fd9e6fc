/* Field blocks made of text, for tests of h2: "name|value" in each line, every field a literal that
 * is not indexed; "!" in front of the name: one that never is. */
#ifndef TESTS_UNIT_H2_BLOCK_H
#define TESTS_UNIT_H2_BLOCK_H

#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "h2/h2_hpack.h"

/* The memory of tables that a test makes. */
static _Atomic size_t table_bytes;

static inline void
init_table(struct h2_hpack *hp)
{
	static void *allocator;

	if (!allocator)
		allocator = h2_hpack_allocator(&table_bytes);
	h2_hpack_init(hp, allocator);
}

/* An integer with a prefix of 7 bits (RFC 7541, 5.1). */
static inline uint8_t *
block_int(uint8_t *p, size_t n)
{
	if (n < 127) {
		*p++ = (uint8_t)n;
		return p;
	}
	*p++ = 127;
	for (n -= 127; n >= 128; n /= 128)
		*p++ = (uint8_t)(n % 128 + 128);
	*p++ = (uint8_t)n;
	return p;
}

static inline uint8_t *
block_string(uint8_t *p, const char *s, size_t n)
{
	p = block_int(p, n);
	if (n)
		memcpy(p, s, n);
	return p + n;
}

static inline size_t
block_field(uint8_t *out, struct str name, struct str value, int never)
{
	uint8_t *p = out;

	*p++ = never ? 0x10 : 0x00;
	p = block_string(p, name.p, name.len);
	return (size_t)(block_string(p, value.p, value.len) - out);
}

/* Writes the block of all lines; returns its length. */
static inline size_t
block_of(uint8_t *out, const char *lines)
{
	size_t n = 0;

	while (*lines) {
		const char *bar = strchr(lines, '|'), *end = strchr(lines, '\n');
		int never = *lines == '!';

		if (!end)
			end = lines + strlen(lines);
		lines += never;
		n += block_field(out + n, (struct str){ lines, (size_t)(bar - lines) },
			(struct str){ bar + 1, (size_t)(end - bar - 1) }, never);
		lines = *end ? end + 1 : end;
	}
	return n;
}

#endif
