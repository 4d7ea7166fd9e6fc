/* HPACK by nghttp2, the only file that includes it. An encoder or decoder is made with the first
 * block. */
#include "h2/h2_hpack.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "h2/h2_frame.h"

/* --- memory --- */

static void *
hd_malloc(size_t size, void *ctx)
{
	(void)ctx;
	return mem_alloc(size);
}

static void
hd_free(void *p, void *ctx)
{
	(void)ctx;
	mem_free(p);
}

static void *
hd_calloc(size_t n, size_t size, void *ctx)
{
	(void)ctx;
	return size && n > SIZE_MAX / size ? NULL : mem_zalloc(n * size);
}

static void *
hd_realloc(void *p, size_t size, void *ctx)
{
	(void)ctx;
	return mem_resize(p, 1, size);
}

/* nghttp2 refers to it as long as there is an encoder or decoder, and does not change it. */
static const nghttp2_mem memory = { NULL, hd_malloc, hd_free, hd_calloc, hd_realloc };

void
h2_hpack_init(struct h2_hpack *hp)
{
	*hp = (struct h2_hpack){ .in_size = H2_TABLE_DEFAULT, .out_size = H2_TABLE_DEFAULT };
}

void
h2_hpack_fini(struct h2_hpack *hp)
{
	if (hp->in)
		nghttp2_hd_inflate_del(hp->in);
	if (hp->out)
		nghttp2_hd_deflate_del(hp->out);
	hp->in = NULL;
	hp->out = NULL;
}

/* Measured with 1.52: either has about 1 KB of index and 1 KB of map beside its entries. */
size_t
h2_hpack_memory(const struct h2_hpack *hp)
{
	size_t n = 0;

	if (hp->in)
		n += 2048 + nghttp2_hd_inflate_get_dynamic_table_size(hp->in);
	if (hp->out)
		n += 2048 + nghttp2_hd_deflate_get_dynamic_table_size(hp->out);
	return n;
}

/* --- decoding --- */

static must_check int
make_decoder(struct h2_hpack *hp)
{
	if (hp->in)
		return 0;
	if (nghttp2_hd_inflate_new2(&hp->in, (nghttp2_mem *)&memory) != 0)
		return -ERR_NOMEM;
	if (hp->in_size == H2_TABLE_DEFAULT)
		return 0;
	return nghttp2_hd_inflate_change_table_size(hp->in, hp->in_size) ? -ERR_NOMEM : 0;
}

int
h2_hpack_set_in(struct h2_hpack *hp, uint32_t size)
{
	hp->in_size = size;
	if (!hp->in)
		return 0;
	return nghttp2_hd_inflate_change_table_size(hp->in, size) ? -ERR_NOMEM : 0;
}

int
h2_hpack_decode(struct h2_hpack *hp, const uint8_t *block, size_t len, h2_field_fn *fn, void *ctx)
{
	int flags = 0;

	if (make_decoder(hp) < 0)
		return -ERR_NOMEM;
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv nv;
		struct h2_field f;
		ssize_t n = nghttp2_hd_inflate_hd2(hp->in, &nv, &flags, block, len, 1);

		if (n < 0)
			return n == NGHTTP2_ERR_NOMEM ? -ERR_NOMEM : -ERR_SYNTAX;
		block += n;
		len -= (size_t)n;
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT))
			continue;
		f.name = (struct str){ (const char *)nv.name, nv.namelen };
		f.value = (struct str){ (const char *)nv.value, nv.valuelen };
		f.never_indexed = nv.flags & NGHTTP2_NV_FLAG_NO_INDEX;
		fn(ctx, &f);
	}
	(void)nghttp2_hd_inflate_end_headers(hp->in);
	return 0;
}

/* --- encoding --- */

static must_check int
make_encoder(struct h2_hpack *hp)
{
	if (hp->out)
		return 0;
	if (nghttp2_hd_deflate_new2(&hp->out, H2_TABLE_OUT_MAX, (nghttp2_mem *)&memory) != 0)
		return -ERR_NOMEM;
	if (hp->must_empty && nghttp2_hd_deflate_change_table_size(hp->out, 0) != 0)
		return -ERR_NOMEM;
	if (hp->out_size == H2_TABLE_DEFAULT && !hp->must_empty)
		return 0;
	hp->must_empty = 0;
	return nghttp2_hd_deflate_change_table_size(hp->out, hp->out_size) ? -ERR_NOMEM : 0;
}

void
h2_hpack_drop_out(struct h2_hpack *hp)
{
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

static void
batch_add(struct batch *b, const struct h2_field *f)
{
	char *name = b->names + b->used;

	for (size_t i = 0; i < f->name.len; i++)
		name[i] = str_lower(f->name.p[i]);
	b->used += (unsigned int)f->name.len;
	b->nv[b->n++] = (nghttp2_nv){ (uint8_t *)name, (uint8_t *)f->value.p, f->name.len,
		f->value.len,
		f->never_indexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE };
}

long
h2_hpack_encode(struct h2_hpack *hp, h2_next_fn *next, void *ctx, uint8_t *out, size_t cap)
{
	struct batch b;
	struct h2_field f;
	size_t len = 0;
	int more = next(ctx, &f);

	if (make_encoder(hp) < 0)
		return -ERR_NOMEM;
	while (more) {
		ssize_t n;

		for (b.n = b.used = 0; more && batch_has_room(&b, f.name); more = next(ctx, &f))
			batch_add(&b, &f);
		n = nghttp2_hd_deflate_hd(hp->out, out + len, cap - len, b.nv, b.n);
		if (n < 0)
			return -ERR_NOMEM;
		len += (size_t)n;
	}
	return (long)len;
}
