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
make_room(struct pattern_index *x)
{
	uint32_t cap = x->cap ? 2 * x->cap : CAP_FIRST;
	struct pattern_slot *slot;

	if (2 * (x->n + 1) <= x->cap)
		return 0;
	slot = mem_zalloc(cap * sizeof(*slot));
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
note_len(struct pattern_index *x, size_t len)
{
	size_t words = len / 64 + 1;
	uint64_t *lens;

	if (words > x->len_words) {
		lens = mem_resize(x->lens, words, sizeof(*lens));
		if (!lens)
			return -ERR_NOMEM;
		memset(lens + x->len_words, 0, (words - x->len_words) * sizeof(*lens));
		x->lens = lens;
		x->len_words = words;
	}
	x->lens[len / 64] |= UINT64_C(1) << len % 64;
	x->len_max = MAX(x->len_max, len);
	return 0;
}

int
pattern_index_add(struct pattern_index *x, struct pattern *item, uint64_t hash, size_t len)
{
	if (pattern_index_find(x, hash, item->key.p, item->key.len))
		return -ERR_EXISTS;
	if (make_room(x) < 0 || note_len(x, len) < 0)
		return -ERR_NOMEM;
	put(x->slot, x->cap, (struct pattern_slot){ hash, item });
	x->n++;
	return 0;
}
