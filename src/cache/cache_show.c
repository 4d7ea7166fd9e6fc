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
		n++;
	return n;
}

unsigned int
cache_walk(struct cache *c, const struct cache_caller *by, uint32_t *at, struct cache_shown *out,
	unsigned int n)
{
	uint32_t end = MIN(*at + CACHE_CHAINS_AT_ONCE, c->n_chains);
	unsigned int got = 0;

	lock_take(&c->lock, by->sys);
	/* A chain is shown as a whole, except for one that is longer than all of out. */
	for (; *at < end && (!got || got + chain_length_locked(c, *at) <= n); ++*at) {
		for (const struct cache_entry *e = c->chain[*at]; e && got < n; e = e->next) {
			if (e->is_filling)
				continue;
			out[got++] = shown_locked(c, by, e);
		}
	}
	lock_drop(&c->lock);
	if (*at >= c->n_chains)
		*at = 0;
	return got;
}
