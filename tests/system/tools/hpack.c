/*
 * Encodes or decodes field blocks of HPACK, for test_hpack.py: `hpack encode` and `hpack decode`.
 *
 * Standard input has commands of one byte, numbers have four, little-endian: B a block, which is
 * answered with one of the other kind; S a number, the size of the table; T frees the encoder's
 * table; N begins another connection. A list of fields is their number, and for each its flag, name
 * and value; a text or block is its length and its bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sbuf.h"
#include "h2/h2_hpack.h"
#include "unit/h2/block.h"

#define BLOCK_MAX (1 << 20)
#define FIELDS_MAX 256

struct list_of_fields {
	struct h2_field field[FIELDS_MAX];
	uint32_t n, at;
};

static void
fail(const char *why)
{
	fprintf(stderr, "hpack: %s\n", why);
	exit(1);
}

static uint32_t
read_number(void)
{
	uint8_t b[4];

	if (fread(b, 1, sizeof(b), stdin) != sizeof(b))
		fail("the input is cut");
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void
write_number(uint32_t n)
{
	const uint8_t b[4] = { (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
		(uint8_t)(n >> 24) };

	fwrite(b, 1, sizeof(b), stdout);
}

/* Without bytes p may be NULL, which fwrite() may not get. */
static void
write_bytes(const void *p, size_t n)
{
	if (n)
		fwrite(p, 1, n, stdout);
}

/* Reads a text to the place that *end says, and moves it. */
static struct str
read_text(char **end, const char *limit)
{
	struct str s = { *end, read_number() };

	if (s.len > (size_t)(limit - *end) || fread(*end, 1, s.len, stdin) != s.len)
		fail("a text is too long, or cut");
	*end += s.len;
	return s;
}

static void
write_text(struct str s)
{
	write_number((uint32_t)s.len);
	write_bytes(s.p, s.len);
}

static int
next_field(void *ctx, struct h2_field *f)
{
	struct list_of_fields *l = ctx;

	if (l->at == l->n)
		return 0;
	*f = l->field[l->at++];
	return 1;
}

static void
encode(struct h2_hpack *hp)
{
	static char text[BLOCK_MAX];
	static uint8_t block[2 * BLOCK_MAX];
	static struct list_of_fields l;
	char *end = text;
	long n;

	l.n = read_number();
	l.at = 0;
	if (l.n > FIELDS_MAX)
		fail("too many fields");
	for (uint32_t i = 0; i < l.n; i++) {
		l.field[i].never_indexed = getchar();
		l.field[i].name = read_text(&end, text + sizeof(text));
		l.field[i].value = read_text(&end, text + sizeof(text));
	}
	n = h2_hpack_encode(hp, next_field, &l, block, sizeof(block));
	if (n < 0)
		fail("it cannot be encoded");
	write_text((struct str){ (const char *)block, (size_t)n });
}

struct decoded {
	struct sbuf out;
	uint32_t n;
};

static void
add_number(struct sbuf *b, size_t n)
{
	for (int i = 0; i < 4; i++)
		sbuf_addc(b, (char)(n >> 8 * i));
}

static void
take_field(void *ctx, const struct h2_field *f)
{
	struct decoded *d = ctx;

	d->n++;
	sbuf_addc(&d->out, (char)f->never_indexed);
	add_number(&d->out, f->name.len);
	sbuf_add(&d->out, f->name.p, f->name.len);
	add_number(&d->out, f->value.len);
	sbuf_add(&d->out, f->value.p, f->value.len);
}

static void
decode(struct h2_hpack *hp)
{
	static char block[BLOCK_MAX];
	char *end = block;
	struct str s = read_text(&end, block + sizeof(block));
	struct decoded d = { .n = 0 };

	sbuf_init(&d.out, 0);
	if (h2_hpack_decode(hp, (const uint8_t *)s.p, s.len, take_field, &d) < 0)
		fail("a block is bad");
	write_number(d.n);
	write_bytes(d.out.p, d.out.len);
	sbuf_fini(&d.out);
}

int
main(int argc, char **argv)
{
	int encodes = argc == 2 && !strcmp(argv[1], "encode"), c;
	struct h2_hpack hp;

	init_table(&hp);
	while ((c = getchar()) != EOF) {
		if (c == 'N') {
			h2_hpack_fini(&hp);
			init_table(&hp);
		} else if (c == 'T') {
			h2_hpack_park(&hp);
		} else if (c == 'S') {
			uint32_t size = read_number();
			int r = encodes ? h2_hpack_set_out(&hp, size) : h2_hpack_set_in(&hp, size);

			if (r < 0)
				fail("no memory");
		} else if (encodes) {
			encode(&hp);
		} else {
			decode(&hp);
		}
	}
	h2_hpack_fini(&hp);
	return fflush(stdout) == 0 ? 0 : 1;
}
