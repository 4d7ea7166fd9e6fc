/* The objects of a cache, for `show cache`. */
#include "base/hash.h"
#include "cache_int.h"

uint32_t
cache_available(struct cache *c, const struct cache_caller *by)
{
	uint32_t n;

	lock_take(&c->lock, by->sys);
	n = c->n_blocks - c->n_busy;
	lock_drop(&c->lock);
	return n;
}

/* A hash of the next n bytes. */
static uint32_t
shown_hash(const struct cache *c, struct cache_place *at, size_t n)
{
	uint32_t h = 0;

	while (n) {
		struct str s = cache_read(c, at, n);

		h = hash_crc32c(h, s.p, s.len);
		n -= s.len;
	}
	return h;
}

static struct cache_shown
shown_locked(const struct cache *c, const struct cache_caller *by, const struct cache_entry *e)
{
	struct cache_place at = { e->first, sizeof(struct cache_object) };
	struct cache_shown x = { .id = e, .size = e->size - sizeof(struct cache_object),
		.blocks = e->blocks, .refs = e->refs,
		.expires_ms = (int64_t)(e->expires_ms - by->now_ms) };

	lock_assert_held(&c->lock);
	x.hash = shown_hash(c, &at, e->key_len);
	x.codings = e->codings;
	x.texts = shown_hash(c, &at, e->texts_len);
	return x;
}

static unsigned int
chain_length_locked(const struct cache *c, uint32_t i)
{
	unsigned int n = 0;

	lock_assert_held(&c->lock);
	for (const struct cache_entry *e = c->chain[i]; e; e = e->next)
		n += !e->is_filling;
	return n;
}

/* Writes up to n objects of a chain behind those that were shown. Returns how many. */
static unsigned int
walk_chain_locked(const struct cache *c, const struct cache_caller *by,
	const struct cache_walked *at, struct cache_shown *out, unsigned int n)
{
	unsigned int i = 0, got = 0;

	lock_assert_held(&c->lock);
	for (const struct cache_entry *e = c->chain[at->chains]; e && got < n; e = e->next)
		if (!e->is_filling && i++ >= at->objects)
			out[got++] = shown_locked(c, by, e);
	return got;
}

unsigned int
cache_walk(struct cache *c, const struct cache_caller *by, struct cache_walked *at,
	struct cache_shown *out, unsigned int n)
{
	uint32_t end = MIN(at->chains + CACHE_CHAINS_AT_ONCE, c->n_chains);
	unsigned int got = 0;

	lock_take(&c->lock, by->sys);
	while (at->chains < end) {
		unsigned int length = chain_length_locked(c, at->chains), some;

		/* One that does not fit is begun with all of the room. */
		if (got && got + length > n)
			break;
		some = walk_chain_locked(c, by, at, out + got, n - got);
		got += some;
		at->objects += some;
		if (at->objects < length)
			break;
		*at = (struct cache_walked){ at->chains + 1, 0 };
	}
	lock_drop(&c->lock);
	if (at->chains >= c->n_chains)
		*at = (struct cache_walked){ 0, 0 };
	return got;
}
