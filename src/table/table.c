/* Tables as a whole: how a slot is laid out, what is found and made, references, walks. */
#include "table/table.h"

#include <string.h>

#include "base/mem.h"
#include "table_int.h"

#define SHARDS_MAX 64u
/* Entries of a shard, on average, at least: a small table has one. */
#define SHARD_ENTRIES 64u
/* Chunks of a full shard. */
#define CHUNKS 64u
#define CHUNK_BITS_MIN 4u
#define CHUNK_BITS_MAX 12u
/* Tries of PURGE_TRIES entries in the key's shard, and other shards that are asked. */
#define PURGE_ROUNDS 16
#define PURGE_SHARDS 4

const struct table_data_info table_data_info[TABLE_DATA_TYPES] = {
#define TABLE_DATA(id, name, kind, flags) { name, TABLE_KIND_##kind, flags },
#include "table/data.tbl.h"
#undef TABLE_DATA
};

int
table_data_find(const char *name, size_t len)
{
	for (int i = 0; i < TABLE_DATA_TYPES; i++)
		if (strlen(table_data_info[i].name) == len &&
			memcmp(table_data_info[i].name, name, len) == 0)
			return i;
	return -1;
}

const char *
table_type_name(enum table_type type)
{
	static const char *const names[TABLE_TYPES] = {
		[TABLE_INTEGER] = "integer",
		[TABLE_IPV4] = "ip",
		[TABLE_IPV6] = "ipv6",
		[TABLE_STRING] = "string",
		[TABLE_BINARY] = "binary",
	};

	return names[type];
}

/* --- layout --- */

uint32_t
table_value_size(enum table_kind kind)
{
	switch (kind) {
	case TABLE_KIND_U64:
		return sizeof(uint64_t);
	case TABLE_KIND_RATE:
		return sizeof(struct table_rate);
	case TABLE_KIND_U32:
	case TABLE_KIND_NAME:
		break;
	}
	return sizeof(uint32_t);
}

/* Places the values in a slot, those of 64 bits last, then the key. */
static void
lay_out(struct table *t)
{
	uint32_t at = sizeof(struct table_entry);
	unsigned int wide = 0;

	t->prev_at = t->conf.store[TABLE_CONN_CUR].n ? at : 0;
	at += t->prev_at ? sizeof(uint32_t) : 0;
	for (unsigned int pass = 0; pass < 2; pass++) {
		if (pass && wide)
			at = (at + 7) & ~7u;
		for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
			enum table_kind kind = table_data_info[i].kind;
			unsigned int is_wide = kind == TABLE_KIND_U64;

			if (!t->conf.store[i].n || is_wide != pass) {
				wide += is_wide && t->conf.store[i].n;
				continue;
			}
			t->at[i] = (uint16_t)at;
			at += table_value_size(kind) * t->conf.store[i].n;
		}
	}
	t->key_at = at;
	at += t->conf.key_len + (t->conf.type == TABLE_STRING);
	t->stride = wide ? (at + 7) & ~7u : (at + 3) & ~3u;
}

static void
choose_sizes(struct table *t)
{
	uint32_t each;

	t->n_shards = 1;
	while (t->n_shards < SHARDS_MAX && t->conf.size / (t->n_shards * 2) >= SHARD_ENTRIES) {
		t->n_shards *= 2;
		t->shard_bits++;
	}
	each = t->conf.size / t->n_shards;
	t->chunk_bits = CHUNK_BITS_MIN;
	while (t->chunk_bits < CHUNK_BITS_MAX && each >> t->chunk_bits >= CHUNKS)
		t->chunk_bits++;
}

struct table *
table_new(const char *name, const struct table_conf *conf, const struct keyhash *hash)
{
	struct table *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->conf = *conf;
	t->hash = *hash;
	choose_sizes(t);
	lay_out(t);
	t->name = mem_strdup(name);
	t->shard = mem_zalloc_aligned(CACHE_LINE, t->n_shards * sizeof(*t->shard));
	if (t->name && t->shard)
		return t;
	table_free(t);
	return NULL;
}

static void
free_dictionary(struct table *t)
{
	for (unsigned int i = 0; i < TABLE_NAME_LEVELS; i++) {
		char *_Atomic *level = atomic_load_explicit(&t->names[i], memory_order_relaxed);
		unsigned int n = i ? TABLE_NAMES_FIRST << (i - 1) : TABLE_NAMES_FIRST;

		for (unsigned int j = 0; level && j < n; j++)
			mem_free(atomic_load_explicit(&level[j], memory_order_relaxed));
		mem_free(level);
	}
}

void
table_free(struct table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; t->shard && i < t->n_shards; i++) {
		for (uint32_t j = 0; j < t->shard[i].chunks; j++)
			table_chunk_free(t, t->shard[i].chunk[j]);
		mem_free(t->shard[i].chunk);
	}
	free_dictionary(t);
	mem_free(t->shard);
	mem_free(t->name);
	mem_free(t);
}

void
table_want(struct table *t, enum table_data type)
{
	assert(table_used(t) == 0);
	if (t->conf.store[type].n)
		return;
	t->conf.store[type].n = 1;
	lay_out(t);
}

const char *
table_name(const struct table *t)
{
	return t->name;
}

const struct table_conf *
table_conf_of(const struct table *t)
{
	return &t->conf;
}

uint32_t
table_used(const struct table *t)
{
	return atomic_load_explicit(&t->used, memory_order_relaxed);
}

uint32_t
table_avail(const struct table *t)
{
	uint32_t used = table_used(t);

	return used < t->conf.size ? t->conf.size - used : 0;
}

size_t
table_bytes(const struct table *t)
{
	return sizeof(*t) + t->n_shards * sizeof(*t->shard) +
		atomic_load_explicit(&t->bytes, memory_order_relaxed);
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
		found = table_purge_locked(t, sh, t->conf.nopurge, (uint32_t)by->now_ms);
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
	slot = table_lookup_locked(t, sh, k);
	if (slot) {
		e = table_slot(t, sh, slot - 1);
		if (table_has_expired(t, e, (uint32_t)by->now_ms))
			e = NULL;
		else
			table_ref(e);
	}
	lock_drop(&sh->lock);
	return e;
}

/* A place for another entry of the shard, of one that it replaces if need be. */
static int
place_locked(struct table *t, struct table_shard *sh, uint32_t now)
{
	int found = !table_is_full_locked(t, sh) && take_place(t);

	lock_assert_held(&sh->lock);
	for (int i = 0; i < PURGE_ROUNDS && !found; i++)
		found = table_purge_locked(t, sh, t->conf.nopurge, now);
	return found;
}

/* What is missing for a new entry. */
enum missing { MISSING_NOTHING, MISSING_SLOT, MISSING_PLACE };

/* Makes an entry. A place is taken only when there is a slot: one that is held for nothing would
 * have another worker replace an entry. *has_place: the caller has one, which is used. */
static struct table_entry *
make_locked(struct table *t, struct table_shard *sh, const struct table_key *k, int *has_place,
	enum missing *missing, uint32_t now)
{
	int is_full = table_is_full_locked(t, sh);

	lock_assert_held(&sh->lock);
	*missing = MISSING_SLOT;
	if (is_full && (*has_place || table_avail(t)))
		return NULL;
	*missing = MISSING_PLACE;
	if (!*has_place && !place_locked(t, sh, now))
		return NULL;
	*missing = MISSING_NOTHING;
	*has_place = 0;
	return table_insert_locked(t, sh, k, now);
}

/* Finds the entry, or makes it; it gets a reference. */
static struct table_entry *
get_locked(struct table *t, struct table_shard *sh, const struct table_key *k, int *has_place,
	enum missing *missing, uint32_t now)
{
	uint32_t slot = table_lookup_locked(t, sh, k);
	struct table_entry *e;

	lock_assert_held(&sh->lock);
	if (!slot) {
		e = make_locked(t, sh, k, has_place, missing, now);
	} else {
		e = table_slot(t, sh, slot - 1);
		if (table_has_expired(t, e, now))
			table_renew_locked(t, sh, slot, now);
		else
			table_entry_touch(t, e, now);
	}
	if (e)
		table_ref(e);
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
		if (missing == MISSING_PLACE ? !has_place : table_grow(t, sh, by->sys) < 0)
			break;
	}
	give_places(t, has_place != 0);
	return e;
}

void
table_ref(struct table_entry *e)
{
	(void)atomic_fetch_add_explicit(&e->refs, 1u, memory_order_relaxed);
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
	table_entry_touch(t, e, (uint32_t)by->now_ms);
}

uint32_t
table_refs(const struct table_entry *e)
{
	return (atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_REFS) - 1;
}

uint32_t
table_expires_in(const struct table *t, const struct table_entry *e, const struct table_caller *by)
{
	int32_t left = (int32_t)(atomic_load_explicit(&e->expire, memory_order_relaxed) -
		(uint32_t)by->now_ms);

	return t->conf.expire_ms && left > 0 ? (uint32_t)left : 0;
}

uint32_t
table_idle(const struct table *t, const struct table_entry *e, const struct table_caller *by)
{
	int32_t idle = (int32_t)((uint32_t)by->now_ms + t->conf.expire_ms -
		atomic_load_explicit(&e->expire, memory_order_relaxed));

	return idle > 0 ? (uint32_t)idle : 0;
}

const unsigned char *
table_entry_key(const struct table *t, const struct table_entry *e)
{
	return (const unsigned char *)e + t->key_at;
}

/* The slot + 1 of an entry. */
static uint32_t
slot_of_locked(const struct table *t, const struct table_shard *sh, const struct table_entry *e)
{
	uintptr_t at = (uintptr_t)e;

	lock_assert_held(&sh->lock);
	for (uint32_t i = 0; i < sh->chunks; i++) {
		uintptr_t chunk = (uintptr_t)sh->chunk[i];

		if (at >= chunk && at < chunk + table_chunk_bytes(t))
			return (i << t->chunk_bits) + 1 +
				(uint32_t)((at - chunk - ((size_t)4 << t->chunk_bits)) / t->stride);
	}
	return 0;
}

uint64_t
table_entry_id(struct table *t, const struct table_entry *e, struct sys *sys)
{
	struct table_shard *sh = table_shard_of(t, table_entry_hash(t, e));
	uint32_t slot;

	lock_take(&sh->lock, sys);
	slot = slot_of_locked(t, sh, e);
	lock_drop(&sh->lock);
	return (uint64_t)(sh - t->shard) << 32 | slot;
}

int
table_remove(struct table *t, struct table_entry *e, const struct table_caller *by)
{
	struct table_shard *sh = table_shard_of(t, table_entry_hash(t, e));
	int removed;

	lock_take(&sh->lock, by->sys);
	table_unref(e);
	removed = !(atomic_load_explicit(&e->refs, memory_order_acquire) & ENTRY_REFS);
	if (removed)
		table_delete_locked(t, sh, slot_of_locked(t, sh, e));
	lock_drop(&sh->lock);
	give_places(t, (uint32_t)removed);
	return removed ? 0 : -1;
}

/* --- walks --- */

/* Slots that are examined while the lock is held. */
#define WALK_SLOTS 64

static struct table_entry *
walk_locked(const struct table *t, const struct table_shard *sh, struct table_walk *w, uint32_t now)
{
	lock_assert_held(&sh->lock);
	for (unsigned int n = 0; n < WALK_SLOTS && w->slot < sh->fresh; n++) {
		struct table_entry *e = table_slot(t, sh, w->slot++);

		if (atomic_load_explicit(&e->refs, memory_order_acquire) & ENTRY_LIVE &&
			!table_has_expired(t, e, now)) {
			table_ref(e);
			return e;
		}
	}
	return NULL;
}

struct table_entry *
table_walk(struct table *t, struct table_walk *w, const struct table_caller *by)
{
	struct table_entry *e = NULL;

	while (!e && w->shard < t->n_shards) {
		struct table_shard *sh = &t->shard[w->shard];
		int is_over;

		lock_take(&sh->lock, by->sys);
		e = walk_locked(t, sh, w, (uint32_t)by->now_ms);
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
	const struct table_entry *e;

	lock_assert_held(&sh->lock);
	if (!sh->head)
		return t->conf.expire_ms;
	e = table_slot(t, sh, sh->head - 1);
	/* One that is in use is touched at its end. */
	if (table_is_due(t, e, now))
		return t->conf.expire_ms / 2 + 1;
	return atomic_load_explicit(&e->expire, memory_order_relaxed) - now;
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
		removed = table_expire_locked(t, sh, &most, now);
		left = time_left_locked(t, sh, now);
		lock_drop(&sh->lock);
		give_places(t, removed);
		if (!most)
			return 0;
		wait = MIN(wait, left);
		t->sweep_next++;
	}
	return MAX(wait, 1u);
}
