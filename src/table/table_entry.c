/* Entries: a shard with its index, its slots and the FIFO in which they expire; how entries are
 * found, made, purged and removed. */
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "table_int.h"
#include "table_saved.h"

/* Tries of PURGE_TRIES entries in the key's shard, and other shards that are asked. */
#define PURGE_ROUNDS 16
#define PURGE_SHARDS 4

/* Entries of the FIFO that are examined for one that may be purged. */
#define PURGE_TRIES 16

/* --- hashes --- */

/* The bits by which the chain is chosen: those behind the shard's, with the highest one last, since
 * the upper bits of a hash are the good ones. */
static uint32_t
chain_bits(const struct table *t, uint64_t hash)
{
	uint32_t v = (uint32_t)(hash << t->shard_bits >> 32);

	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}

static uint32_t
hash_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 16) << LINK_TAG_SHIFT;
}

/* The sizes of numbers and addresses are constants here: they are compared without a call. */
static int
has_key(const struct table *t, const struct table_entry *e, const struct table_key *k)
{
	const unsigned char *key = (const unsigned char *)e + t->key_at;

	switch (t->conf.type) {
	case TABLE_INTEGER:
	case TABLE_IPV4:
		return memcmp(key, k->bytes, sizeof(uint32_t)) == 0;
	case TABLE_IPV6:
		return memcmp(key, k->bytes, sizeof(struct in6_addr)) == 0;
	case TABLE_STRING:
	case TABLE_BINARY:
	case TABLE_TYPES:
		break;
	}
	return memcmp(key, k->bytes, k->len) == 0 && table_stored_len(t, key) == k->len;
}

/* --- time --- */

/* True if it also has no references. */
static int
entry_has_expired(const struct table *t, const struct table_entry *e, uint32_t now)
{
	return !(atomic_load_explicit(&e->refs, memory_order_acquire) & ENTRY_REFS) &&
		table_is_due(t, e, now);
}

/* Postpones its expiry. */
static void
touch_entry(const struct table *t, struct table_entry *e, uint32_t now)
{
	atomic_store_explicit(&e->expire, now + t->conf.expire_ms, memory_order_relaxed);
	if (!(atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_TOUCHED))
		(void)atomic_fetch_or_explicit(&e->refs, ENTRY_TOUCHED, memory_order_relaxed);
}

/* --- the FIFO --- */

/* The number of the shard above it stays the same as long as the entry lives. */
static void
set_prev(const struct table *t, const struct table_shard *sh, struct table_entry *e, uint32_t slot)
{
	atomic_store_explicit(&e->prev, (uint32_t)(sh - t->shard) << PREV_SHARD_SHIFT | slot,
		memory_order_relaxed);
}

static void
append_locked(const struct table *t, struct table_shard *sh, uint32_t slot)
{
	struct table_entry *e = table_slot(t, sh, slot - 1);

	lock_assert_held(&sh->lock);
	(void)atomic_fetch_and_explicit(&e->refs, ~ENTRY_TOUCHED, memory_order_relaxed);
	e->next = 0;
	set_prev(t, sh, e, sh->tail);
	if (sh->tail)
		table_slot(t, sh, sh->tail - 1)->next = slot;
	else
		sh->head = slot;
	sh->tail = slot;
}

static void
unqueue_locked(const struct table *t, struct table_shard *sh, uint32_t slot)
{
	struct table_entry *e = table_slot(t, sh, slot - 1);
	uint32_t prev = atomic_load_explicit(&e->prev, memory_order_relaxed) & PREV_SLOT;

	lock_assert_held(&sh->lock);
	if (prev)
		table_slot(t, sh, prev - 1)->next = e->next;
	else
		sh->head = e->next;
	if (e->next)
		set_prev(t, sh, table_slot(t, sh, e->next - 1), prev);
	else
		sh->tail = prev;
}

static void
requeue_locked(const struct table *t, struct table_shard *sh, uint32_t slot)
{
	lock_assert_held(&sh->lock);
	unqueue_locked(t, sh, slot);
	append_locked(t, sh, slot);
}

/* --- the index --- */

/* The head of a chain. */
static uint32_t *
chain_head(const struct table *t, const struct table_shard *sh, uint32_t chain)
{
	uint32_t *heads = (uint32_t *)(void *)sh->chunk[chain >> t->chunk_bits];

	return &heads[chain & ((1u << t->chunk_bits) - 1)];
}

/* The chain of a hash: the number of chains is not a power of two while the next ones are split. */
static uint32_t *
chain_of(const struct table *t, const struct table_shard *sh, uint64_t hash)
{
	uint32_t bits = chain_bits(t, hash), mask, chain;

	mask = sh->heads > 1 ? UINT32_MAX >> __builtin_clz(sh->heads - 1) : 0;
	chain = bits & mask;
	return chain_head(t, sh, chain < sh->heads ? chain : chain & mask >> 1);
}

/* Adds a chain, and moves to it what belongs there of the one that it is split from. */
static void
split_locked(const struct table *t, struct table_shard *sh)
{
	uint32_t bit = 1u << (31 - __builtin_clz(sh->heads)), link, next;
	uint32_t *from = chain_head(t, sh, sh->heads & ~bit), *to = chain_head(t, sh, sh->heads);

	lock_assert_held(&sh->lock);
	*to = 0;
	sh->heads++;
	for (link = *from, *from = 0; link; link = next) {
		struct table_entry *e = table_slot(t, sh, (link & LINK_SLOT) - 1);
		uint32_t *head = chain_bits(t, table_entry_hash(t, e)) & bit ? to : from;

		next = e->chain;
		e->chain = *head;
		*head = link;
	}
}

/* The slot + 1 of the entry with this key, also if it has expired. 0: none. */
static uint32_t
lookup_locked(const struct table *t, const struct table_shard *sh, const struct table_key *k)
{
	uint32_t link, tag = hash_tag(k->hash);

	lock_assert_held(&sh->lock);
	if (!sh->heads)
		return 0;
	for (link = *chain_of(t, sh, k->hash); link;) {
		struct table_entry *e = table_slot(t, sh, (link & LINK_SLOT) - 1);

		if ((link & ~LINK_SLOT) == tag && has_key(t, e, k))
			return link & LINK_SLOT;
		link = e->chain;
	}
	return 0;
}

/* --- slots --- */

/* True if there is no slot for another entry. */
static int
shard_is_full_locked(const struct table *t, const struct table_shard *sh)
{
	lock_assert_held(&sh->lock);
	return !sh->free && sh->fresh >= sh->chunks << t->chunk_bits;
}

/* Zeroes the values, and forgets the changes. The entry must have no references. */
static void
clear_values(const struct table *t, struct table_entry *e)
{
	if (unlikely(t->log))
		table_log_forget(t, e);
	memset((char *)e + sizeof(*e), 0, t->key_at - sizeof(*e));
	if (unlikely(t->n_parts))
		memset((char *)e + t->parts_at, 0, (size_t)t->n_parts * t->part_size);
}

/* Makes an entry without references in a shard that is not full. table.used counts it already. */
static struct table_entry *
insert_locked(const struct table *t, struct table_shard *sh, const struct table_key *k,
	uint32_t now)
{
	uint32_t slot = sh->free, *head;
	struct table_entry *e;

	lock_assert_held(&sh->lock);
	if (slot)
		sh->free = table_slot(t, sh, slot - 1)->next;
	else
		slot = ++sh->fresh;
	sh->used++;
	for (int i = 0; i < 2 && sh->heads < MIN(sh->used, sh->chunks << t->chunk_bits); i++)
		split_locked(t, sh);
	e = table_slot(t, sh, slot - 1);
	clear_values(t, e);
	memcpy((char *)e + t->key_at, k->bytes, k->len);
	memset((char *)e + t->key_at + k->len, 0, t->key_end - t->key_at - k->len);
	head = chain_of(t, sh, k->hash);
	e->chain = *head;
	*head = hash_tag(k->hash) | slot;
	atomic_store_explicit(&e->expire, now + t->conf.expire_ms, memory_order_relaxed);
	atomic_store_explicit(&e->refs, ENTRY_LIVE, memory_order_release);
	append_locked(t, sh, slot);
	return e;
}

/* Makes an entry that has expired a new one. */
static void
renew_locked(const struct table *t, struct table_shard *sh, uint32_t slot, uint32_t now)
{
	struct table_entry *e = table_slot(t, sh, slot - 1);

	lock_assert_held(&sh->lock);
	clear_values(t, e);
	(void)atomic_fetch_and_explicit(&e->refs, ~ENTRY_SENT, memory_order_relaxed);
	atomic_store_explicit(&e->expire, now + t->conf.expire_ms, memory_order_relaxed);
	requeue_locked(t, sh, slot);
}

/* Takes out an entry without references. table.used counts it still. slot: + 1 */
static void
delete_locked(const struct table *t, struct table_shard *sh, uint32_t slot)
{
	struct table_entry *e = table_slot(t, sh, slot - 1);
	uint32_t *link = chain_of(t, sh, table_entry_hash(t, e));

	lock_assert_held(&sh->lock);
	while ((*link & LINK_SLOT) != slot)
		link = &table_slot(t, sh, (*link & LINK_SLOT) - 1)->chain;
	*link = e->chain;
	unqueue_locked(t, sh, slot);
	atomic_store_explicit(&e->refs, 0u, memory_order_relaxed);
	e->next = sh->free;
	sh->free = slot;
	sh->used--;
}

/* Takes out one entry that has no references, from the start of the FIFO, or one that has expired
 * only. True if there was one; table.used counts it still. */
static int
purge_locked(const struct table *t, struct table_shard *sh, int only_expired, uint32_t now)
{
	lock_assert_held(&sh->lock);
	for (unsigned int i = 0; i < PURGE_TRIES && sh->head; i++) {
		uint32_t slot = sh->head;
		struct table_entry *e = table_slot(t, sh, slot - 1);
		uint32_t refs = atomic_load_explicit(&e->refs, memory_order_acquire);
		int due = table_is_due(t, e, now);

		if (!(refs & ENTRY_REFS) && (due || !(refs & ENTRY_TOUCHED || only_expired))) {
			delete_locked(t, sh, slot);
			return 1;
		}
		/* All behind it expire later. */
		if (only_expired && !due && !(refs & ENTRY_TOUCHED))
			return 0;
		requeue_locked(t, sh, slot);
	}
	return 0;
}

/* Examines up to `most` of *left entries from the start of the FIFO, and takes out those that have
 * expired. *left: those that are to be examined next time. Returns how many were taken out;
 * table.used counts them still. */
static unsigned int
expire_locked(const struct table *t, struct table_shard *sh, uint32_t *left, unsigned int *most,
	uint32_t now)
{
	unsigned int removed = 0;

	lock_assert_held(&sh->lock);
	for (*left = MIN(*left, sh->used); *left && *most; --*left) {
		uint32_t slot = sh->head;
		struct table_entry *e = table_slot(t, sh, slot - 1);

		if (entry_has_expired(t, e, now)) {
			delete_locked(t, sh, slot);
			removed++;
		} else if (table_is_due(t, e, now) ||
			(atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_TOUCHED)) {
			requeue_locked(t, sh, slot);
		} else {
			*left = 0;
			break;
		}
		--*most;
	}
	return removed;
}

/* --- memory --- */

/* A chunk, zeroed, in the file if there is room. NULL when memory is out. */
static char *
new_chunk(struct table *t, const struct table_shard *sh, uint32_t number)
{
	char key[TABLE_RECORD_KEY_MAX], *chunk = NULL;

	table_record_key(t, key, 'c', (uint32_t)(sh - t->shard), number);
	if (t->file)
		chunk = memfile_add(t->file, RECORD_CHUNK, key, "", table_chunk_bytes(t));
	return chunk ? chunk : mem_zalloc_aligned(CACHE_LINE, table_chunk_bytes(t));
}

/* A longer list of chunks, if there is no room in it. 0, or -ERR_NOMEM. */
static int
grow_list(uint32_t chunks, uint32_t room, char ***list)
{
	*list = NULL;
	if (chunks < room)
		return 0;
	*list = mem_alloc(MAX(room * 2, 4u) * sizeof(**list));
	return *list ? 0 : -ERR_NOMEM;
}

/* Installs a chunk unless another worker has. Returns what is to be freed instead. */
static void
install_locked(const struct table *t, struct table_shard *sh, char **chunk, char ***list,
	uint32_t room)
{
	char **old = sh->chunk;

	lock_assert_held(&sh->lock);
	if (*list) {
		if (sh->chunks)
			memcpy(*list, old, sh->chunks * sizeof(*old));
		sh->chunk = *list;
		sh->chunk_room = MAX(room * 2, 4u);
		*list = old;
	}
	sh->chunk[sh->chunks++] = *chunk;
	*chunk = NULL;
	if (!sh->heads)
		sh->heads = 1u << t->chunk_bits;
}

/* Adds a chunk to a shard that is full, without its lock. 0 or -ERR_NOMEM. */
static int
grow_shard(struct table *t, struct table_shard *sh, struct sys *sys)
{
	uint32_t chunks, room;
	char **list, *chunk;

	lock_take(&sh->lock, sys);
	chunks = sh->chunks;
	room = sh->chunk_room;
	lock_drop(&sh->lock);
	if (chunks + 1 > SHARD_SLOTS_MAX >> t->chunk_bits || grow_list(chunks, room, &list) < 0)
		return -ERR_NOMEM;
	chunk = new_chunk(t, sh, chunks);
	if (!chunk) {
		mem_free(list);
		return -ERR_NOMEM;
	}
	lock_take(&sh->lock, sys);
	if (sh->chunks == chunks)
		install_locked(t, sh, &chunk, &list, room);
	lock_drop(&sh->lock);
	if (!chunk)
		(void)atomic_fetch_add_explicit(
			&t->bytes, table_chunk_bytes(t), memory_order_relaxed);
	table_chunk_free(t, chunk);
	mem_free(list);
	return 0;
}

/* --- places: table.used never exceeds the size --- */

static int
take_place(struct table *t)
{
	uint32_t used = atomic_load_explicit(&t->used, memory_order_relaxed);

	while (used < t->conf.size)
		if (atomic_compare_exchange_weak_explicit(&t->used, &used, used + 1,
			    memory_order_relaxed, memory_order_relaxed))
			return 1;
	return 0;
}

static void
give_places(struct table *t, uint32_t n)
{
	if (n)
		(void)atomic_fetch_sub_explicit(&t->used, n, memory_order_relaxed);
}

/* Takes the place of an entry of another shard. */
static int
purge_elsewhere(struct table *t, const struct table_caller *by)
{
	int found = 0;

	for (unsigned int i = 0; i < MIN(PURGE_SHARDS, t->n_shards) && !found; i++) {
		uint32_t turn = atomic_fetch_add_explicit(&t->victim, 1, memory_order_relaxed);
		struct table_shard *sh = &t->shard[turn & (t->n_shards - 1)];

		lock_take(&sh->lock, by->sys);
		found = purge_locked(t, sh, t->conf.nopurge, (uint32_t)by->now_ms);
		lock_drop(&sh->lock);
	}
	return found;
}

/* --- find and make --- */

struct table_entry *
table_find(struct table *t, const struct table_key *k, const struct table_caller *by)
{
	struct table_shard *sh = table_shard_of(t, k->hash);
	struct table_entry *e = NULL;
	uint32_t slot;

	lock_take(&sh->lock, by->sys);
	slot = lookup_locked(t, sh, k);
	if (slot) {
		e = table_slot(t, sh, slot - 1);
		if (entry_has_expired(t, e, (uint32_t)by->now_ms))
			e = NULL;
		else
			table_add_ref(e);
	}
	lock_drop(&sh->lock);
	return e;
}

/* A place for another entry of the shard, of one that it replaces if need be. */
static int
place_locked(struct table *t, struct table_shard *sh, uint32_t now)
{
	int found = !shard_is_full_locked(t, sh) && take_place(t);

	lock_assert_held(&sh->lock);
	for (int i = 0; i < PURGE_ROUNDS && !found; i++)
		found = purge_locked(t, sh, t->conf.nopurge, now);
	return found;
}

/* The reasons why there is no new entry yet. */
enum missing { MISSING_NOTHING, MISSING_SLOT, MISSING_PLACE };

/* Makes an entry. A place is taken only when there is a slot: one that is held for nothing would
 * have another worker replace an entry. *has_place: the caller has one, which is used. */
static struct table_entry *
make_locked(struct table *t, struct table_shard *sh, const struct table_key *k, int *has_place,
	enum missing *missing, uint32_t now)
{
	int is_full = shard_is_full_locked(t, sh);

	lock_assert_held(&sh->lock);
	*missing = MISSING_SLOT;
	if (is_full && (*has_place || table_avail(t)))
		return NULL;
	*missing = MISSING_PLACE;
	if (!*has_place && !place_locked(t, sh, now))
		return NULL;
	*missing = MISSING_NOTHING;
	*has_place = 0;
	return insert_locked(t, sh, k, now);
}

/* Finds the entry, or makes it; it gets a reference. */
static struct table_entry *
get_locked(struct table *t, struct table_shard *sh, const struct table_key *k, int *has_place,
	enum missing *missing, uint32_t now)
{
	uint32_t slot = lookup_locked(t, sh, k);
	struct table_entry *e;

	lock_assert_held(&sh->lock);
	if (!slot) {
		e = make_locked(t, sh, k, has_place, missing, now);
	} else {
		e = table_slot(t, sh, slot - 1);
		if (entry_has_expired(t, e, now))
			renew_locked(t, sh, slot, now);
		else
			touch_entry(t, e, now);
	}
	if (e)
		table_add_ref(e);
	return e;
}

struct table_entry *
table_get(struct table *t, const struct table_key *k, const struct table_caller *by)
{
	struct table_shard *sh = table_shard_of(t, k->hash);
	enum missing missing = MISSING_NOTHING;
	struct table_entry *e;
	int has_place = 0;

	for (;;) {
		lock_take(&sh->lock, by->sys);
		e = get_locked(t, sh, k, &has_place, &missing, (uint32_t)by->now_ms);
		lock_drop(&sh->lock);
		if (e)
			break;
		if (missing == MISSING_PLACE)
			has_place = purge_elsewhere(t, by);
		if (missing == MISSING_PLACE ? !has_place : grow_shard(t, sh, by->sys) < 0)
			break;
	}
	give_places(t, has_place != 0);
	if (e)
		table_changed(t, e, by);
	return e;
}

void
table_unref(struct table_entry *e)
{
	assert(atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_REFS);
	(void)atomic_fetch_sub_explicit(&e->refs, 1u, memory_order_release);
}

void
table_touch(struct table *t, struct table_entry *e, const struct table_caller *by)
{
	touch_entry(t, e, (uint32_t)by->now_ms);
	table_changed(t, e, by);
}

uint32_t
table_refs(const struct table_entry *e)
{
	return (atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_REFS) - 1;
}

uint32_t
table_expires_in(const struct table *t, const struct table_entry *e, const struct table_caller *by)
{
	return t->conf.expire_ms ? table_time_left(t, e, (uint32_t)by->now_ms) : 0;
}

uint32_t
table_idle(const struct table *t, const struct table_entry *e, const struct table_caller *by)
{
	int32_t idle = (int32_t)((uint32_t)by->now_ms + t->conf.expire_ms -
		atomic_load_explicit(&e->expire, memory_order_relaxed));

	return idle > 0 ? (uint32_t)idle : 0;
}

uint64_t
table_entry_id(struct table *t, const struct table_entry *e, struct sys *sys)
{
	struct table_shard *sh = table_entry_shard(t, e);
	uint32_t slot;

	lock_take(&sh->lock, sys);
	slot = table_slot_of(t, sh, e);
	lock_drop(&sh->lock);
	return (uint64_t)(sh - t->shard) << 32 | slot;
}

int
table_remove(struct table *t, struct table_entry *e, const struct table_caller *by)
{
	struct table_shard *sh = table_entry_shard(t, e);
	int removed;

	lock_take(&sh->lock, by->sys);
	table_unref(e);
	removed = !(atomic_load_explicit(&e->refs, memory_order_acquire) & ENTRY_REFS);
	if (removed)
		delete_locked(t, sh, table_slot_of(t, sh, e));
	lock_drop(&sh->lock);
	give_places(t, (uint32_t)removed);
	return removed ? 0 : -1;
}

/* --- walks --- */

/* Slots that are examined while the lock is held. */
#define WALK_SLOTS 64

static struct table_entry *
walk_locked(const struct table *t, const struct table_shard *sh, struct table_walk *w,
	unsigned int *most, uint32_t now)
{
	lock_assert_held(&sh->lock);
	for (unsigned int n = 0; n < WALK_SLOTS && *most && w->slot < sh->fresh; n++, --*most) {
		struct table_entry *e = table_slot(t, sh, w->slot++);

		if (atomic_load_explicit(&e->refs, memory_order_acquire) & ENTRY_LIVE &&
			!entry_has_expired(t, e, now)) {
			table_add_ref(e);
			--*most;
			return e;
		}
	}
	return NULL;
}

struct table_entry *
table_walk(struct table *t, struct table_walk *w, unsigned int *most,
	const struct table_caller *by)
{
	struct table_entry *e = NULL;

	while (!e && *most && w->shard < t->n_shards) {
		struct table_shard *sh = &t->shard[w->shard];
		int is_over;

		lock_take(&sh->lock, by->sys);
		e = walk_locked(t, sh, w, most, (uint32_t)by->now_ms);
		is_over = !e && w->slot >= sh->fresh;
		lock_drop(&sh->lock);
		if (is_over) {
			w->shard++;
			w->slot = 0;
		}
	}
	return e;
}

/* Milliseconds until the first one of the FIFO expires. */
static uint32_t
time_left_locked(const struct table *t, const struct table_shard *sh, uint32_t now)
{
	uint32_t left;

	lock_assert_held(&sh->lock);
	if (!sh->head)
		return t->conf.expire_ms;
	left = table_time_left(t, table_slot(t, sh, sh->head - 1), now);
	/* One that is in use is touched at its end. */
	return left ? left : t->conf.expire_ms / 2 + 1;
}

uint32_t
table_sweep(struct table *t, const struct table_caller *by, unsigned int most)
{
	uint32_t now = (uint32_t)by->now_ms, wait = t->conf.expire_ms;

	if (!t->conf.expire_ms)
		return UINT32_MAX;
	for (uint32_t n = 0; n < t->n_shards; n++) {
		struct table_shard *sh = &t->shard[t->sweep_next & (t->n_shards - 1)];
		uint32_t left;
		unsigned int removed;

		lock_take(&sh->lock, by->sys);
		t->sweep_left = t->sweep_left ? t->sweep_left : sh->used;
		removed = expire_locked(t, sh, &t->sweep_left, &most, now);
		left = time_left_locked(t, sh, now);
		lock_drop(&sh->lock);
		give_places(t, removed);
		t->sweep_next += !t->sweep_left;
		if (!most)
			return 0;
		wait = MIN(wait, left);
	}
	return MAX(wait, 1u);
}
