/* HPACK by nghttp2, the only file that includes it. An encoder or decoder is made with the first
 * block. */
#include "h2/h2_hpack.h"

#include <nghttp2/nghttp2.h>
#include <stddef.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "h2/h2_frame.h"

/* Entries of the static table (RFC 7541, A). */
#define STATIC_ENTRIES 61
/* The size in front of a parked table. */
#define PARKED_EXTRA 8

/* --- memory --- */

/* Memory of nghttp2, which has its size in front. */
struct counted {
	size_t size; /* with this */
	max_align_t p[];
};

static void *
count_block(struct counted *b, size_t size, void *sum)
{
	if (!b)
		return NULL;
	b->size = size;
	counter_add((_Atomic size_t *)sum, size);
	return b->p;
}

static void *
hd_malloc(size_t size, void *sum)
{
	size_t all = sizeof(struct counted) + size;

	return all > size ? count_block(mem_alloc(all), all, sum) : NULL;
}

static void
hd_free(void *p, void *sum)
{
	struct counted *b = p ? container_of(p, struct counted, p) : NULL;

	counter_sub((_Atomic size_t *)sum, b ? b->size : 0);
	mem_free(b);
}

static void *
hd_calloc(size_t n, size_t size, void *sum)
{
	void *p = size && n > SIZE_MAX / size ? NULL : hd_malloc(n * size, sum);

	return p ? memset(p, 0, n * size) : NULL;
}

static void *
hd_realloc(void *p, size_t size, void *sum)
{
	size_t all = sizeof(struct counted) + size, before;
	struct counted *b;

	if (!p || all < size)
		return p ? NULL : hd_malloc(size, sum);
	b = container_of(p, struct counted, p);
	before = b->size;
	b = mem_resize(b, 1, all);
	counter_sub((_Atomic size_t *)sum, b ? before : 0);
	return count_block(b, all, sum);
}

void *
h2_hpack_allocator(_Atomic size_t *sum)
{
	nghttp2_mem *m = mem_alloc(sizeof(*m));

	if (m)
		*m = (nghttp2_mem){ sum, hd_malloc, hd_free, hd_calloc, hd_realloc };
	return m;
}

void
h2_hpack_init(struct h2_hpack *hp, void *allocator)
{
	*hp = (struct h2_hpack){
		.allocator = allocator,
		.in_size = H2_TABLE_DEFAULT,
		.out_size = H2_TABLE_DEFAULT,
	};
}

static void
drop_parked(struct h2_hpack *hp)
{
	if (hp->parked)
		hd_free(hp->parked, ((const nghttp2_mem *)hp->allocator)->mem_user_data);
	hp->parked = NULL;
}

void
h2_hpack_fini(struct h2_hpack *hp)
{
	if (hp->in)
		nghttp2_hd_inflate_del(hp->in);
	if (hp->out)
		nghttp2_hd_deflate_del(hp->out);
	drop_parked(hp);
	hp->in = NULL;
	hp->out = NULL;
}

/* --- decoding --- */

/* Decodes a block for its effect on the table only. */
static must_check int
fill_table(struct nghttp2_hd_inflater *in, const uint8_t *p, size_t len)
{
	int flags = 0;
	nghttp2_nv nv;

	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		ssize_t n = nghttp2_hd_inflate_hd2(in, &nv, &flags, p, len, 1);

		if (n < 0)
			return -ERR_NOMEM;
		p += n;
		len -= (size_t)n;
	}
	return nghttp2_hd_inflate_end_headers(in) ? -ERR_NOMEM : 0;
}

/* Makes a decoder, with the table of a parked one: 0 or -ERR_NOMEM. */
static must_check int
make_decoder(struct h2_hpack *hp)
{
	if (hp->in)
		return 0;
	if (nghttp2_hd_inflate_new2(&hp->in, hp->allocator) != 0)
		return -ERR_NOMEM;
	if (hp->in_size != H2_TABLE_DEFAULT &&
		nghttp2_hd_inflate_change_table_size(hp->in, hp->in_size) != 0)
		return -ERR_NOMEM;
	if (!hp->parked)
		return 0;
	if (fill_table(hp->in, hp->parked, hp->parked_len) < 0)
		return -ERR_NOMEM;
	drop_parked(hp);
	return 0;
}

/* Writes an integer behind the bits of `first` (RFC 7541, 5.1). Returns its end. */
static uint8_t *
put_integer(uint8_t *p, uint8_t first, unsigned int bits, size_t n)
{
	size_t most = (1u << bits) - 1;

	*p++ = (uint8_t)(first | MIN(n, most));
	if (n < most)
		return p;
	for (n -= most; n >= 0x80; n >>= 7)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)n;
	return p;
}

static uint8_t *
put_hpack_text(uint8_t *p, const uint8_t *text, size_t n)
{
	p = put_integer(p, 0, 7, n);
	memcpy(p, text, n);
	return p + n;
}

/* Writes a block that leaves a decoder with this table: literals that are indexed, the oldest
 * first, behind its size. The number of bytes. */
static size_t
put_dynamic(struct nghttp2_hd_inflater *in, uint8_t *block)
{
	size_t size = nghttp2_hd_inflate_get_max_dynamic_table_size(in);
	uint8_t *p = put_integer(block, 0x20, 5, size);

	for (size_t i = nghttp2_hd_inflate_get_num_table_entries(in); i > STATIC_ENTRIES; i--) {
		const nghttp2_nv *nv = nghttp2_hd_inflate_get_table_entry(in, i);

		*p++ = 0x40;
		p = put_hpack_text(p, nv->name, nv->namelen);
		p = put_hpack_text(p, nv->value, nv->valuelen);
	}
	return (size_t)(p - block);
}

/* Each entry counts 32 bytes more than its texts, which is more than its block needs besides. */
static void
park_decoder(struct h2_hpack *hp)
{
	size_t room = nghttp2_hd_inflate_get_dynamic_table_size(hp->in) + PARKED_EXTRA;
	void *sum = ((const nghttp2_mem *)hp->allocator)->mem_user_data;
	uint8_t *block = hd_malloc(room, sum), *less;

	if (!block)
		return;
	hp->parked_len = put_dynamic(hp->in, block);
	less = hd_realloc(block, hp->parked_len, sum);
	hp->parked = less ? less : block;
	nghttp2_hd_inflate_del(hp->in);
	hp->in = NULL;
}

int
h2_hpack_set_in(struct h2_hpack *hp, uint32_t size)
{
	if (hp->parked && make_decoder(hp) < 0)
		return -ERR_NOMEM;
	hp->in_size = size;
	hp->in_is_settled = 0;
	if (!hp->in)
		return 0;
	return nghttp2_hd_inflate_change_table_size(hp->in, size) ? -ERR_NOMEM : 0;
}

/* The entry that an indexed field names in its first byte, which changes no table (6.1). NULL: it
 * is another representation, or none. */
static const nghttp2_nv *
entry_of(struct nghttp2_hd_inflater *in, uint8_t first)
{
	if (first <= 0x80 || first == 0xff)
		return NULL;
	return nghttp2_hd_inflate_get_table_entry(in, first & 0x7f);
}

static void
give_field(const nghttp2_nv *nv, h2_field_fn *fn, void *ctx)
{
	struct h2_field f = {
		.name = { (const char *)nv->name, nv->namelen },
		.value = { (const char *)nv->value, nv->valuelen },
		.never_indexed = nv->flags & NGHTTP2_NV_FLAG_NO_INDEX,
	};

	fn(ctx, &f);
}

/* A decoder that waits for the update of a changed size has to see the whole block. */
int
h2_hpack_decode(struct h2_hpack *hp, const uint8_t *block, size_t len, h2_field_fn *fn, void *ctx)
{
	int flags = 0, is_first = 1;
	const nghttp2_nv *entry;
	nghttp2_nv nv;

	if (make_decoder(hp) < 0)
		return -ERR_NOMEM;
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		ssize_t n;

		if (len && hp->in_is_settled && (entry = entry_of(hp->in, *block))) {
			give_field(entry, fn, ctx);
			is_first = 0;
			block++;
			if (!--len)
				break;
			continue;
		}
		/* An update is at the beginning of a block (4.2), of which nghttp2 has seen
		 * nothing. */
		if (!is_first && len && (*block & 0xe0) == 0x20)
			return -ERR_SYNTAX;
		n = nghttp2_hd_inflate_hd2(hp->in, &nv, &flags, block, len, 1);
		if (n < 0)
			return n == NGHTTP2_ERR_NOMEM ? -ERR_NOMEM : -ERR_SYNTAX;
		block += n;
		len -= (size_t)n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT)
			give_field(&nv, fn, ctx);
	}
	(void)nghttp2_hd_inflate_end_headers(hp->in);
	hp->in_is_settled = 1;
	return 0;
}

/* --- encoding --- */

static must_check int
make_encoder(struct h2_hpack *hp)
{
	if (hp->out)
		return 0;
	if (nghttp2_hd_deflate_new2(&hp->out, H2_TABLE_OUT_MAX, hp->allocator) != 0)
		return -ERR_NOMEM;
	hp->out_is_settled = 0;
	if (hp->must_empty && nghttp2_hd_deflate_change_table_size(hp->out, 0) != 0)
		return -ERR_NOMEM;
	if (hp->out_size == H2_TABLE_DEFAULT && !hp->must_empty)
		return 0;
	hp->must_empty = 0;
	return nghttp2_hd_deflate_change_table_size(hp->out, hp->out_size) ? -ERR_NOMEM : 0;
}

void
h2_hpack_park(struct h2_hpack *hp)
{
	if (hp->in)
		park_decoder(hp);
	if (!hp->out)
		return;
	nghttp2_hd_deflate_del(hp->out);
	hp->out = NULL;
	hp->must_empty = 1;
}

int
h2_hpack_set_out(struct h2_hpack *hp, uint32_t size)
{
	hp->out_size = MIN(size, H2_TABLE_OUT_MAX);
	/* The smallest size of all is confirmed, also if it has grown again. */
	hp->must_empty |= !hp->out && size < H2_TABLE_DEFAULT;
	if (!hp->out)
		return 0;
	hp->out_is_settled = 0;
	return nghttp2_hd_deflate_change_table_size(hp->out, hp->out_size) ? -ERR_NOMEM : 0;
}

/* Some fields of a block, with their names in lower case. */
struct batch {
	nghttp2_nv nv[48];
	unsigned int n;
	unsigned int used; /* of names */
	char names[H2_NAME_MAX + 512];
};

static int
batch_has_room(const struct batch *b, struct str name)
{
	return b->n < ARRAY_LEN(b->nv) && sizeof(b->names) - b->used >= name.len;
}

/* Eight bytes at a time, the last ones together with some before them. */
static void
copy_lower(char *to, struct str s)
{
	uint64_t c;

	if (s.len < sizeof(c)) {
		for (size_t i = 0; i < s.len; i++)
			to[i] = str_lower(s.p[i]);
		return;
	}
	for (size_t i = 0;; i = MIN(i + sizeof(c), s.len - sizeof(c))) {
		memcpy(&c, s.p + i, sizeof(c));
		c = str_lower8(c);
		memcpy(to + i, &c, sizeof(c));
		if (i == s.len - sizeof(c))
			return;
	}
}

static void
batch_add(struct batch *b, const struct h2_field *f)
{
	char *name = b->names + b->used;

	copy_lower(name, f->name);
	b->used += (unsigned int)f->name.len;
	b->nv[b->n++] = (nghttp2_nv){ (uint8_t *)name, (uint8_t *)f->value.p, f->name.len,
		f->value.len,
		f->never_indexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE };
}

#define TEXT(s) { s, sizeof(s) - 1 }

/* The index of a field of the static table (RFC 7541, A) that heads often begin with; 0: none. */
static uint8_t
static_index(const struct h2_field *f)
{
	static const struct {
		struct str name, value;
	} entries[] = {
		[8] = { TEXT(":status"), TEXT("200") },
		[2] = { TEXT(":method"), TEXT("GET") },
		[3] = { TEXT(":method"), TEXT("POST") },
		[4] = { TEXT(":path"), TEXT("/") },
		[6] = { TEXT(":scheme"), TEXT("http") },
		[7] = { TEXT(":scheme"), TEXT("https") },
		[9] = { TEXT(":status"), TEXT("204") },
		[10] = { TEXT(":status"), TEXT("206") },
		[11] = { TEXT(":status"), TEXT("304") },
	};

	for (uint8_t i = 2; i < ARRAY_LEN(entries) && !f->never_indexed; i++)
		if (f->value.len == entries[i].value.len && str_is(f->name, entries[i].name) &&
			str_is(f->value, entries[i].value))
			return i;
	return 0;
}

long
h2_hpack_encode(struct h2_hpack *hp, h2_next_fn *next, void *ctx, uint8_t *out, size_t cap)
{
	struct batch b;
	struct h2_field f;
	size_t len = 0;
	uint8_t index;
	int more = next(ctx, &f);

	if (make_encoder(hp) < 0)
		return -ERR_NOMEM;
	/* An index changes no table; an update of its size would have to be before it. */
	while (more && hp->out_is_settled && (index = static_index(&f))) {
		out[len++] = 0x80 | index;
		more = next(ctx, &f);
	}
	while (more) {
		ssize_t n;

		for (b.n = b.used = 0; more && batch_has_room(&b, f.name); more = next(ctx, &f))
			batch_add(&b, &f);
		n = nghttp2_hd_deflate_hd(hp->out, out + len, cap - len, b.nv, b.n);
		if (n < 0)
			return -ERR_NOMEM;
		len += (size_t)n;
		hp->out_is_settled = 1;
	}
	return (long)len;
}
