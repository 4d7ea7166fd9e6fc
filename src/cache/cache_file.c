/* The memory of a cache in a memory file, and what the next process reads of it. */
#include <stdio.h>
#include <string.h>

#include "base/age.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "cache_int.h"

/* Changes with the meaning of the members. */
#define CACHE_FORM 2u
#define RECORD_KEY_MAX 512
/* Kinds of records. */
enum { RECORD_LINKS = 1, RECORD_BLOCKS };

uint32_t
cache_file_layout(void)
{
	const size_t size[] = { CACHE_FORM, CACHE_BLOCK, CACHE_CHUNK_BITS,
		sizeof(struct cache_link), sizeof(struct cache_object) };

	return hash_crc32c(0x6361, size, sizeof(size));
}

static void
chunk_key(const struct cache *c, unsigned int i, char key[RECORD_KEY_MAX])
{
	(void)snprintf(key, RECORD_KEY_MAX, "%u %.400s", i, c->name);
}

static uint32_t
blocks_in_chunk(uint32_t n_blocks, unsigned int i)
{
	uint32_t before = i << CACHE_CHUNK_BITS;

	return before < n_blocks ? MIN(n_blocks - before, 1u << CACHE_CHUNK_BITS) : 0;
}

size_t
cache_file_room(const struct cache *c)
{
	char key[RECORD_KEY_MAX];
	size_t room;

	chunk_key(c, 0, key);
	room = memfile_record_size(key, "", c->n_blocks * sizeof(struct cache_link));
	for (unsigned int i = 0; i < CACHE_CHUNKS && blocks_in_chunk(c->n_blocks, i); i++)
		room += memfile_record_size(key, "",
			(size_t)blocks_in_chunk(c->n_blocks, i) * CACHE_BLOCK);
	return room;
}

int
cache_file_place(struct cache *c, struct memfile *f)
{
	char key[RECORD_KEY_MAX];

	chunk_key(c, 0, key);
	c->link = memfile_add(f, RECORD_LINKS, key, "", c->n_blocks * sizeof(struct cache_link));
	if (!c->link)
		return -ERR_FULL;
	for (unsigned int i = 0; i < CACHE_CHUNKS && blocks_in_chunk(c->n_blocks, i); i++) {
		chunk_key(c, i, key);
		c->chunk[i] = memfile_add(f, RECORD_BLOCKS, key, "",
			(size_t)blocks_in_chunk(c->n_blocks, i) * CACHE_BLOCK);
		if (!c->chunk[i])
			return -ERR_FULL;
	}
	c->free = mem_alloc((c->n_blocks + 63) / 64 * sizeof(*c->free));
	c->chain = mem_zalloc(c->n_chains * sizeof(*c->chain));
	if (!c->free || !c->chain)
		return -ERR_NOMEM;
	/* Whole megabytes are a multiple of 64 blocks. */
	memset(c->free, 0xff, c->n_blocks / 64 * sizeof(*c->free));
	c->n_free = c->n_blocks;
	return 0;
}

/* --- the file of a previous process --- */

/* Its records. */
struct former_cache {
	const struct cache_link *link;
	const char *chunk[CACHE_CHUNKS];
	uint32_t n_blocks;
};

/* 1, or 0: it has none of this name, or they do not fit together. */
static int
find_records(const struct cache *c, const struct memfile_view *v, struct former_cache *f)
{
	char key[RECORD_KEY_MAX];
	const struct memfile_item *item;

	memset(f, 0, sizeof(*f));
	chunk_key(c, 0, key);
	item = memfile_find(v, RECORD_LINKS, key, "");
	if (!item || item->len / sizeof(struct cache_link) >
			(size_t)CACHE_CHUNKS << CACHE_CHUNK_BITS)
		return 0;
	f->link = item->payload;
	f->n_blocks = (uint32_t)(item->len / sizeof(struct cache_link));
	for (unsigned int i = 0; i < CACHE_CHUNKS && blocks_in_chunk(f->n_blocks, i); i++) {
		chunk_key(c, i, key);
		item = memfile_find(v, RECORD_BLOCKS, key, "");
		if (!item || item->len < (size_t)blocks_in_chunk(f->n_blocks, i) * CACHE_BLOCK)
			return 0;
		f->chunk[i] = item->payload;
	}
	return 1;
}

static const char *
former_block(const struct former_cache *f, uint32_t block)
{
	return f->chunk[block >> CACHE_CHUNK_BITS] +
		(size_t)(block & ((1u << CACHE_CHUNK_BITS) - 1)) * CACHE_BLOCK;
}

/* The lengths are those of an object that this cache may have, and it is not too old. */
static int
is_valid(const struct cache *c, const struct cache_caller *by, const struct cache_object *o)
{
	if (o->key_len > CACHE_KEY_MAX || o->texts_len > CACHE_TEXTS_MAX ||
		o->body_len > c->conf.max_object || o->head_len > c->conf.max_object)
		return 0;
	if ((o->by && !c->conf.variants_max) || o->by >> (1 + CACHE_TEXTS))
		return 0;
	return o->key_len + o->texts_len + o->body_len + o->head_len <= c->conf.max_object &&
		o->expires_ms > by->now_ms &&
		age_between(by->now_ms, o->born_ms) <= CLOCK_SKEW_MS;
}

/* Splits texts, each with a line feed. 0, or -1: they are damaged. */
static int
split_texts(const struct cache_object *o, struct str texts, struct cache_variant *v)
{
	*v = (struct cache_variant){ .by = o->by, .codings = o->codings };
	for (unsigned int i = 0; i < CACHE_TEXTS; i++) {
		const char *end = texts.len ? memchr(texts.p, '\n', texts.len) : NULL;

		if (!(o->by & CACHE_BY_TEXT << i))
			continue;
		if (!end)
			return -1;
		v->text[i] = (struct str){ texts.p, (size_t)(end - texts.p) };
		texts.len -= v->text[i].len + 1;
		texts.p = end + 1;
	}
	return texts.len ? -1 : 0;
}

/* A position in a previous object, whose links are not trusted. */
struct follower {
	const struct former_cache *of;
	uint32_t block, at;
};

/* The next bytes, at most n; len 0: the chain is damaged. */
static struct str
next_slice(struct follower *x, size_t n)
{
	struct str out = { NULL, 0 };

	if (x->at == CACHE_BLOCK) {
		x->block = *(const volatile uint32_t *)&x->of->link[x->block].next;
		x->at = 0;
	}
	if (x->block >= x->of->n_blocks)
		return out;
	out.p = former_block(x->of, x->block) + x->at;
	out.len = MIN(n, CACHE_BLOCK - x->at);
	x->at += (uint32_t)out.len;
	return out;
}

/* 0, or -1: it is damaged. */
static int
copy_checked(struct follower *x, char *to, size_t n)
{
	while (n) {
		struct str s = next_slice(x, n);

		if (!s.len)
			return -1;
		memcpy(to, s.p, s.len);
		to += s.len;
		n -= s.len;
	}
	return 0;
}

/* Appends the head of n bytes to an entry. 0 or negative: it is damaged, or not usable. */
static int
copy_usable_head(struct cache *c, const struct cache_caller *by, const struct cache_heads *heads,
	struct follower *x, struct cache_entry *e, size_t n)
{
	struct str head = { heads->room, n };

	if (n > heads->longest || copy_checked(x, heads->room, n) < 0 ||
		!heads->is_usable(heads, head))
		return -ERR_INVAL;
	return n ? cache_write(c, by, e, head.p, head.len) : 0;
}

/* Appends n bytes of it to an entry. 0 or negative. */
static int
copy_over(struct cache *c, const struct cache_caller *by, struct follower *x,
	struct cache_entry *e, uint64_t n)
{
	int r = 0;

	while (n && r == 0) {
		struct str s = next_slice(x, (size_t)MIN(n, CACHE_BLOCK));

		r = s.len ? cache_write(c, by, e, s.p, s.len) : -ERR_INVAL;
		n -= s.len;
	}
	return r;
}

/* True if the previous object is still the one that was read. */
static int
is_sealed(const struct former_cache *f, uint32_t first, uint32_t seal)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&f->link[first].seal, memory_order_relaxed) == seal;
}

/* 1, or 0: it was not copied. */
static int
restore_object(struct cache *c, const struct cache_caller *by, const struct former_cache *f,
	const struct cache_heads *heads, uint32_t first)
{
	uint32_t seal = atomic_load_explicit(&f->link[first].seal, memory_order_acquire);
	struct follower x = { f, first, sizeof(struct cache_object) };
	char text[CACHE_KEY_MAX + CACHE_TEXTS_MAX];
	struct str key = { text, 0 };
	struct cache_variant v;
	struct cache_object o;
	struct cache_entry *e;
	int r;

	if (!seal)
		return 0;
	memcpy(&o, former_block(f, first), sizeof(o));
	key.len = o.key_len;
	if (!is_valid(c, by, &o) || copy_checked(&x, text, key.len + o.texts_len) < 0 ||
		split_texts(&o, (struct str){ text + key.len, o.texts_len }, &v) < 0)
		return 0;
	e = cache_begin(c, by, key, &v, cache_mark(c, by, key));
	if (!e)
		return 0;
	r = copy_usable_head(c, by, heads, &x, e, o.head_len);
	cache_end_head(e);
	if (r == 0)
		r = copy_over(c, by, &x, e, o.body_len);
	e->born_ms = o.born_ms;
	e->expires_ms = MIN(o.expires_ms, by->now_ms + c->conf.max_age_s * UINT64_C(1000));
	if (r < 0 || !is_sealed(f, first, seal)) {
		cache_abort(c, by, e);
		return 0;
	}
	cache_commit(c, by, e, key);
	return 1;
}

unsigned int
cache_restore(struct cache *c, const struct cache_caller *by, const struct memfile_view *v,
	const struct cache_heads *heads)
{
	struct former_cache f;
	unsigned int n = 0;

	if (!find_records(c, v, &f))
		return 0;
	for (uint32_t i = 0; i < f.n_blocks; i++)
		n += (unsigned int)restore_object(c, by, &f, heads, i);
	return n;
}
