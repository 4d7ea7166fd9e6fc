/*
 * Bytes of the peers protocol and of SPOP: numbers of variable length (peers-v2.0.txt, I; SPOE.txt,
 * 3.1), and readers and writers that stop at the end of their bytes. Pure.
 */
#ifndef TACIT_BASE_WIRE_H
#define TACIT_BASE_WIRE_H

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/str.h"

/* Bytes of the longest number. */
#define WIRE_NUMBER_MAX 10u

/* Bytes that are left to read. After a read past the end, or of a number that is none, `failed` is
 * set and all reads return 0. */
struct wire_in {
	const uint8_t *p, *end;
	int failed;
};

/* A place to write to. Without room `failed` is set, and nothing is written any more. */
struct wire_out {
	uint8_t *p, *end;
	int failed;
};

static inline size_t
wire_left(const struct wire_in *r)
{
	return (size_t)(r->end - r->p);
}

/* n bytes, or NULL. */
static inline const uint8_t *
wire_take(struct wire_in *r, uint64_t n)
{
	const uint8_t *p = r->p;

	if (r->failed || n > wire_left(r)) {
		r->failed = 1;
		return NULL;
	}
	r->p += n;
	return p;
}

static inline uint32_t
wire_take_u32(struct wire_in *r)
{
	const uint8_t *p = wire_take(r, 4);

	return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

/* A number of at most 64 bits. */
static inline uint64_t
wire_take_number(struct wire_in *r)
{
	const uint8_t *p = wire_take(r, 1);
	uint64_t v = p ? *p : 0;

	if (v < 240)
		return v;
	for (unsigned int shift = 4;; shift += 7) {
		uint64_t part;

		p = wire_take(r, 1);
		part = p ? *p : 0;
		/* The tenth byte has no more than the bit that is left. */
		if (shift > 60 || (shift == 60 && part > 15) || v + (part << shift) < v)
			r->failed = 1;
		if (r->failed)
			return 0;
		v += part << shift;
		if (part < 128)
			return v;
	}
}

/* A length and as many bytes. */
static inline struct str
wire_take_text(struct wire_in *r)
{
	uint64_t n = wire_take_number(r);
	const uint8_t *p = wire_take(r, n);

	return p ? (struct str){ (const char *)p, (size_t)n } : (struct str){ "", 0 };
}

static inline void
wire_put(struct wire_out *w, const void *p, size_t n)
{
	if (w->failed || n > (size_t)(w->end - w->p)) {
		w->failed = 1;
		return;
	}
	if (n)
		memcpy(w->p, p, n);
	w->p += n;
}

static inline void
wire_put_u32(struct wire_out *w, uint32_t v)
{
	const uint8_t b[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
		(uint8_t)v };

	wire_put(w, b, sizeof(b));
}

static inline void
wire_put_number(struct wire_out *w, uint64_t v)
{
	uint8_t b[WIRE_NUMBER_MAX];
	size_t n = 0;

	if (v < 240) {
		b[n++] = (uint8_t)v;
	} else {
		b[n++] = (uint8_t)v | 240;
		for (v = (v - 240) >> 4; v >= 128; v = (v - 128) >> 7)
			b[n++] = (uint8_t)v | 128;
		b[n++] = (uint8_t)v;
	}
	wire_put(w, b, n);
}

static inline void
wire_put_text(struct wire_out *w, struct str s)
{
	wire_put_number(w, s.len);
	wire_put(w, s.p, s.len);
}

#endif
