/* A shard: its index, its slots and the FIFO in which they expire. Everything but table_grow() runs
 * under the shard's lock. */
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "table_int.h"

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

/* The bytes of a stored key without the zeros behind it. */
static uint32_t
stored_len(const struct table *t, const unsigned char *key)
{
	uint32_t n = t->conf.key_len;

	if (t->conf.type == TABLE_STRING)
		return (uint32_t)strnlen((const char *)key, n);
	if (t->conf.type == TABLE_BINARY)
		while (n && !key[n - 1])
			n--;
	return n;
}

uint64_t
table_entry_hash(const struct table *t, const struct table_entry *e)
{
	const unsigned char *key = table_entry_key(t, e);

	return keyhash(&t->hash, (const char *)key, stored_len(t, key));
}

static int
has_key(const struct table *t, const struct table_entry *e, const struct table_key *k)
{
	const unsigned char *key = table_entry_key(t, e);

	return memcmp(key, k->bytes, k->len) == 0 && stored_len(t, key) == k->len;
}

/* --- time --- */

int
table_is_due(const struct table *t, const struct table_entry *e, uint32_t now)
{
	uint32_t at = atomic_load_explicit(&e->expire, memory_order_relaxed);

	return t->conf.expire_ms && (int32_t)(now - at) >= 0;
}

int
table_has_expired(const struct table *t, const struct table_entry *e, uint32_t now)
{
	return !(atomic_load_explicit(&e->refs, memory_order_acquire) & ENTRY_REFS) &&
		table_is_due(t, e, now);
}

void
table_entry_touch(const struct table *t, struct table_entry *e, uint32_t now)
{
	atomic_store_explicit(&e->expire, now + t->conf.expire_ms, memory_order_relaxed);
	if (!(atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_TOUCHED))
		(void)atomic_fetch_or_explicit(&e->refs, ENTRY_TOUCHED, memory_order_relaxed);
}

/* --- the FIFO --- */

static void
append_locked(const struct table *t, struct table_shard *sh, uint32_t slot)
{
	struct table_entry *e = table_slot(t, sh, slot - 1);

	lock_assert_held(&sh->lock);
	(void)atomic_fetch_and_explicit(&e->refs, ~ENTRY_TOUCHED, memory_order_relaxed);
	e->next = 0;
	e->prev = sh->tail;
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

	lock_assert_held(&sh->lock);
	if (e->prev)
		table_slot(t, sh, e->prev - 1)->next = e->next;
	else
		sh->head = e->next;
	if (e->next)
		table_slot(t, sh, e->next - 1)->prev = e->prev;
	else
		sh->tail = e->prev;
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

uint32_t
table_lookup_locked(const struct table *t, const struct table_shard *sh, const struct table_key *k)
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

int
table_is_full_locked(const struct table *t, const struct table_shard *sh)
{
	lock_assert_held(&sh->lock);
	return !sh->free && sh->fresh >= sh->chunks << t->chunk_bits;
}

/* Zeroes the values. Nobody has a reference. */
static void
clear_values(const struct table *t, struct table_entry *e)
{
	memset((char *)e + sizeof(*e), 0, t->key_at - sizeof(*e));
}

struct table_entry *
table_insert_locked(const struct table *t, struct table_shard *sh, const struct table_key *k,
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
	memset((char *)e + t->key_at + k->len, 0, t->stride - t->key_at - k->len);
	head = chain_of(t, sh, k->hash);
	e->chain = *head;
	*head = hash_tag(k->hash) | slot;
	atomic_store_explicit(&e->expire, now + t->conf.expire_ms, memory_order_relaxed);
	atomic_store_explicit(&e->refs, ENTRY_LIVE, memory_order_release);
	append_locked(t, sh, slot);
	return e;
}

void
table_renew_locked(const struct table *t, struct table_shard *sh, uint32_t slot, uint32_t now)
{
	struct table_entry *e = table_slot(t, sh, slot - 1);

	lock_assert_held(&sh->lock);
	clear_values(t, e);
	atomic_store_explicit(&e->expire, now + t->conf.expire_ms, memory_order_relaxed);
	requeue_locked(t, sh, slot);
}

void
table_delete_locked(const struct table *t, struct table_shard *sh, uint32_t slot)
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

int
table_purge_locked(const struct table *t, struct table_shard *sh, int only_expired, uint32_t now)
{
	lock_assert_held(&sh->lock);
	for (unsigned int i = 0; i < PURGE_TRIES && sh->head; i++) {
		uint32_t slot = sh->head;
		struct table_entry *e = table_slot(t, sh, slot - 1);
		uint32_t refs = atomic_load_explicit(&e->refs, memory_order_acquire);
		int due = table_is_due(t, e, now);

		if (!(refs & ENTRY_REFS) && (due || !(refs & ENTRY_TOUCHED || only_expired))) {
			table_delete_locked(t, sh, slot);
			return 1;
		}
		/* All behind it expire later. */
		if (only_expired && !due && !(refs & ENTRY_TOUCHED))
			return 0;
		requeue_locked(t, sh, slot);
	}
	return 0;
}

unsigned int
table_expire_locked(const struct table *t, struct table_shard *sh, unsigned int *most, uint32_t now)
{
	unsigned int removed = 0;

	lock_assert_held(&sh->lock);
	for (uint32_t n = sh->used; n && *most; n--) {
		uint32_t slot = sh->head;
		struct table_entry *e = table_slot(t, sh, slot - 1);

		if (table_has_expired(t, e, now)) {
			table_delete_locked(t, sh, slot);
			removed++;
		} else if (table_is_due(t, e, now) ||
			(atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_TOUCHED)) {
			requeue_locked(t, sh, slot);
		} else {
			break;
		}
		--*most;
	}
	return removed;
}

/* --- memory --- */

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

int
table_grow(struct table *t, struct table_shard *sh, struct sys *sys)
{
	uint32_t chunks, room;
	char **list, *chunk;

	lock_take(&sh->lock, sys);
	chunks = sh->chunks;
	room = sh->chunk_room;
	lock_drop(&sh->lock);
	if (chunks + 1 > SHARD_SLOTS_MAX >> t->chunk_bits || grow_list(chunks, room, &list) < 0)
		return -ERR_NOMEM;
	chunk = table_chunk_new(t, sh, chunks);
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
