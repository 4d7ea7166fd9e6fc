/* A hash table with open addressing. While it grows the old table is still searched; each
 * insertion moves some slots, so that none has to move them all. */
#include "rule/match/pattern_index.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/match/pattern.h"

#define CAP_FIRST 4
/* Old slots moved with each added key: a table that has doubled has room for half as many as it
 * had. */
#define MOVED_AT_ONCE 4

void
pattern_index_init(struct pattern_index *x, int fold, const struct keyhash *key)
{
	memset(x, 0, sizeof(*x));
	x->key = *key;
	x->fold = fold != 0;
}

void
pattern_index_fini(struct pattern_index *x)
{
	mem_free(x->slot);
	mem_free(x->old);
	mem_free(x->lens);
	memset(x, 0, sizeof(*x));
}

static inline uint8_t *
slot_tags(struct pattern **slot, uint32_t cap)
{
	return (uint8_t *)(slot + cap);
}

/* Takes the lowest bits: the uppermost ones select the slot. */
static inline uint8_t
tag_of(uint32_t hash)
{
	return (uint8_t)(hash | 1);
}

static inline uint32_t
home_of(uint32_t hash, uint32_t cap)
{
	return (uint32_t)((uint64_t)hash * cap >> 32);
}

/* Stored keys are folded already: only lookups fold. */
static int
is_equal(const struct pattern_index *x, const struct pattern *t, const char *p, size_t len)
{
	struct str key = pattern_key(t);

	if (key.len != len)
		return 0;
	if (!x->fold)
		return memcmp(key.p, p, len) == 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)key.p[i] != pattern_fold((unsigned char)p[i]))
			return 0;
	return 1;
}

static inline struct pattern *
find_in_slots(const struct pattern_index *x, struct pattern **slot, uint32_t cap, uint32_t hash,
	struct str key)
{
	const uint8_t *tag = slot_tags(slot, cap);

	for (uint32_t at = home_of(hash, cap); tag[at]; at = (at + 1) & (cap - 1))
		if (tag[at] == tag_of(hash) && is_equal(x, slot[at], key.p, key.len))
			return slot[at];
	return NULL;
}

static one_copy struct pattern *
find_old(const struct pattern_index *x, uint32_t hash, const char *key, size_t len)
{
	return find_in_slots(x, x->old, x->old_cap, hash, (struct str){ key, len });
}

struct pattern *
pattern_index_find(const struct pattern_index *x, uint32_t hash, const char *key, size_t len)
{
	struct pattern *t;

	if (!x->cap)
		return NULL;
	t = find_in_slots(x, x->slot, x->cap, hash, (struct str){ key, len });
	return likely(t || !x->old) ? t : find_old(x, hash, key, len);
}

static void
put_in_slots(struct pattern **slot, uint32_t cap, struct pattern *item)
{
	uint8_t *tag = slot_tags(slot, cap);
	uint32_t at = home_of(item->hash, cap);

	while (tag[at])
		at = (at + 1) & (cap - 1);
	slot[at] = item;
	tag[at] = tag_of(item->hash);
}

/* A run is moved as a whole: a gap in it would hide the entries after it. */
static void
move_some(struct pattern_index *x, uint32_t n)
{
	uint8_t *tag = x->old ? slot_tags(x->old, x->old_cap) : NULL;

	while (x->old && (n || tag[x->moved])) {
		if (tag[x->moved])
			put_in_slots(x->slot, x->cap, x->old[x->moved]);
		tag[x->moved++] = 0;
		n -= n > 0;
		if (x->moved < x->old_cap)
			continue;
		mem_free(x->old);
		x->old = NULL;
	}
}

static int
grow_slots(struct pattern_index *x, uint32_t cap)
{
	struct pattern **slot = mem_alloc((size_t)cap * (sizeof(struct pattern *) + 1));

	if (!slot)
		return -ERR_NOMEM;
	memset(slot_tags(slot, cap), 0, cap);
	/* While it grows, nothing of the old table is left. */
	move_some(x, UINT32_MAX);
	x->old = x->slot;
	x->old_cap = x->cap;
	x->moved = 0;
	x->slot = slot;
	x->cap = cap;
	return 0;
}

static int
reserve_slot(struct pattern_index *x)
{
	if (2 * (x->n + 1) > x->cap && grow_slots(x, x->cap ? 2 * x->cap : CAP_FIRST) < 0)
		return -ERR_NOMEM;
	move_some(x, MOVED_AT_ONCE);
	return 0;
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
	x->len_words = (uint16_t)words;
	return 0;
}

int
pattern_index_reserve(struct pattern_index *x, uint32_t n, size_t len_max)
{
	uint32_t cap = CAP_FIRST;

	while (cap < 2 * n)
		cap *= 2;
	if (cap > x->cap && grow_slots(x, cap) < 0)
		return -ERR_NOMEM;
	move_some(x, UINT32_MAX);
	return make_lens(x, len_max);
}

void
pattern_index_prefetch(const struct pattern_index *x, uint32_t hash)
{
	if (!x->cap)
		return;
	__builtin_prefetch(&x->slot[home_of(hash, x->cap)], 1);
	__builtin_prefetch(&slot_tags(x->slot, x->cap)[home_of(hash, x->cap)], 1);
}

int
pattern_index_add(struct pattern_index *x, struct pattern *item, size_t len)
{
	if (reserve_slot(x) < 0 || make_lens(x, len) < 0)
		return -ERR_NOMEM;
	x->lens[len / 64] |= UINT64_C(1) << len % 64;
	x->len_max = MAX(x->len_max, (uint32_t)len);
	put_in_slots(x->slot, x->cap, item);
	x->n++;
	return 0;
}

/* A free slot ends a search, so the gap is closed: the next entry that may be there is moved up,
 * and so on. */
static void
close_gap(struct pattern **slot, uint32_t cap, uint32_t gap)
{
	const uint32_t mask = cap - 1;
	uint8_t *tag = slot_tags(slot, cap);

	for (uint32_t at = (gap + 1) & mask; tag[at]; at = (at + 1) & mask) {
		uint32_t home = home_of(slot[at]->hash, cap);

		/* True if its home slot is after the gap; it would not be found in the gap. */
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		slot[gap] = slot[at];
		tag[gap] = tag[at];
		gap = at;
	}
	tag[gap] = 0;
}

void
pattern_index_replace(struct pattern_index *x, const struct pattern *item, struct pattern *heir)
{
	int is_old = find_in_slots(x, x->slot, x->cap, item->hash, pattern_key(item)) != item;
	struct pattern **slot = is_old ? x->old : x->slot;
	uint32_t cap = is_old ? x->old_cap : x->cap, at = home_of(item->hash, cap);

	while (slot[at] != item)
		at = (at + 1) & (cap - 1);
	if (heir) {
		slot[at] = heir;
		return;
	}
	x->n--;
	close_gap(slot, cap, at);
}
