#include "rule/pattern_index.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/pattern.h"

#define CAP_FIRST 16

uint64_t
pattern_hash(const char *key, size_t len)
{
	uint64_t h = PATTERN_HASH_START;

	for (size_t i = 0; i < len; i++)
		h = pattern_hash_step(h, (unsigned char)key[i]);
	return pattern_hash_end(h);
}

void
pattern_index_init(struct pattern_index *x, int fold)
{
	memset(x, 0, sizeof(*x));
	x->fold = fold != 0;
}

void
pattern_index_fini(struct pattern_index *x)
{
	mem_free(x->slot);
	mem_free(x->lens);
	memset(x, 0, sizeof(*x));
}

/* Keys are folded already: only what is looked up has to be. */
static int
is_equal(const struct pattern_index *x, struct str key, const char *p, size_t len)
{
	if (key.len != len)
		return 0;
	if (!x->fold)
		return memcmp(key.p, p, len) == 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)key.p[i] != pattern_fold((unsigned char)p[i]))
			return 0;
	return 1;
}

struct pattern *
pattern_index_find(const struct pattern_index *x, uint64_t hash, const char *key, size_t len)
{
	if (!x->cap)
		return NULL;
	for (uint32_t at = (uint32_t)hash & (x->cap - 1);; at = (at + 1) & (x->cap - 1)) {
		const struct pattern_slot *s = &x->slot[at];

		if (!s->item)
			return NULL;
		if (s->hash == hash && is_equal(x, s->item->key, key, len))
			return s->item;
	}
}

static void
put(struct pattern_slot *slot, uint32_t cap, struct pattern_slot what)
{
	uint32_t at = (uint32_t)what.hash & (cap - 1);

	while (slot[at].item)
		at = (at + 1) & (cap - 1);
	slot[at] = what;
}

static int
resize(struct pattern_index *x, uint32_t cap)
{
	struct pattern_slot *slot = mem_zalloc(cap * sizeof(*slot));

	if (!slot)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < x->cap; i++)
		if (x->slot[i].item)
			put(slot, cap, x->slot[i]);
	mem_free(x->slot);
	x->slot = slot;
	x->cap = cap;
	return 0;
}

static int
make_room(struct pattern_index *x)
{
	if (2 * (x->n + 1) <= x->cap)
		return 0;
	return resize(x, x->cap ? 2 * x->cap : CAP_FIRST);
}

/* Lengths up to this one have a bit. */
static int
make_lens(struct pattern_index *x, size_t len)
{
	size_t words = len / 64 + 1;
	uint64_t *lens;

	if (words <= x->len_words)
		return 0;
	lens = mem_resize(x->lens, words, sizeof(*lens));
	if (!lens)
		return -ERR_NOMEM;
	memset(lens + x->len_words, 0, (words - x->len_words) * sizeof(*lens));
	x->lens = lens;
	x->len_words = words;
	return 0;
}

int
pattern_index_reserve(struct pattern_index *x, uint32_t n, size_t len_max)
{
	uint32_t cap = CAP_FIRST;

	while (cap < 2 * n)
		cap *= 2;
	if (cap > x->cap && resize(x, cap) < 0)
		return -ERR_NOMEM;
	return make_lens(x, len_max);
}

int
pattern_index_add(struct pattern_index *x, struct pattern *item, uint64_t hash, size_t len)
{
	if (pattern_index_find(x, hash, item->key.p, item->key.len))
		return -ERR_EXISTS;
	if (make_room(x) < 0 || make_lens(x, len) < 0)
		return -ERR_NOMEM;
	x->lens[len / 64] |= UINT64_C(1) << len % 64;
	x->len_max = MAX(x->len_max, len);
	put(x->slot, x->cap, (struct pattern_slot){ hash, item });
	x->n++;
	return 0;
}

/* A slot without an item ends the search for those behind it: the next of them that may stand
 * there moves up, and so on. */
static void
close_gap(struct pattern_index *x, uint32_t gap)
{
	const uint32_t mask = x->cap - 1;

	for (uint32_t at = (gap + 1) & mask; x->slot[at].item; at = (at + 1) & mask) {
		uint32_t home = (uint32_t)x->slot[at].hash & mask;

		/* Is its home behind the gap? Then it would not be found in it. */
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		x->slot[gap] = x->slot[at];
		gap = at;
	}
	x->slot[gap].item = NULL;
}

void
pattern_index_replace(
	struct pattern_index *x, const struct pattern *item, uint64_t hash, struct pattern *heir)
{
	uint32_t at = (uint32_t)hash & (x->cap - 1);

	while (x->slot[at].item != item)
		at = (at + 1) & (x->cap - 1);
	if (heir) {
		x->slot[at].item = heir;
		return;
	}
	x->n--;
	close_gap(x, at);
}
