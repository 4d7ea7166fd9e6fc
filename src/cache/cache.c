/* Objects and their blocks. The lock guards the owners of blocks. The writer of an object changes
 * its bytes until the object is complete; then they do not change while an entry has references. */
#include "cache/cache.h"

#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/mem.h"
#include "cache_int.h"

/* Blocks of an object, on average: as many chains. */
#define BLOCKS_PER_CHAIN 8u
#define CHAINS_MIN 64u
/* Entries that were found since they became the oldest and get a second chance, for each that is
 * removed for its blocks. */
#define SECOND_CHANCES 32

struct cache *
cache_new(const char *name, const struct cache_conf *conf, const struct keyhash *hash)
{
	struct cache *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	c->conf = *conf;
	c->hash = *hash;
	c->n_blocks = conf->megabytes * CACHE_BLOCKS_PER_MB;
	list_init(&c->order);
	c->n_chains = CHAINS_MIN;
	while (c->n_chains < c->n_blocks / BLOCKS_PER_CHAIN)
		c->n_chains *= 2;
	c->name = mem_strdup(name);
	if (c->name)
		return c;
	cache_free(c);
	return NULL;
}

void
cache_free(struct cache *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->chain && i < c->n_chains; i++) {
		while (c->chain[i]) {
			struct cache_entry *e = c->chain[i];

			c->chain[i] = e->next;
			mem_free(e);
		}
	}
	mem_free(c->chain);
	mem_free(c->free);
	mem_free(c->name);
	mem_free(c);
}

const char *
cache_name(const struct cache *c)
{
	return c->name;
}

const struct cache_conf *
cache_conf_of(const struct cache *c)
{
	return &c->conf;
}

/* --- blocks --- */

/* A free block, the next one behind the last if that is free. There is one. */
static uint32_t
take_block_locked(struct cache *c)
{
	uint32_t words = (c->n_blocks + 63) / 64, at = c->cursor / 64, block;
	uint64_t bits = c->free[at] & (~UINT64_C(0) << (c->cursor % 64));

	lock_assert_held(&c->lock);
	while (!bits) {
		at = at + 1 < words ? at + 1 : 0;
		bits = c->free[at];
	}
	block = at * 64 + (uint32_t)__builtin_ctzll(bits);
	c->free[at] &= ~(UINT64_C(1) << (block % 64));
	c->n_free--;
	c->cursor = block + 1 < c->n_blocks ? block + 1 : 0;
	return block;
}

static void
free_blocks_locked(struct cache *c, const struct cache_entry *e)
{
	uint32_t block = e->first;

	lock_assert_held(&c->lock);
	for (uint32_t i = 0; i < e->blocks; i++, block = c->link[block].next)
		c->free[block / 64] |= UINT64_C(1) << (block % 64);
	c->n_free += e->blocks;
}

/* --- entries --- */

static struct cache_entry **
chain_for(const struct cache *c, uint64_t hash)
{
	return &c->chain[keyhash_slot(hash, c->n_chains)];
}

/* Puts an entry without references on a list; the caller frees the list without the lock. */
static void
bury_locked(struct cache *c, struct cache_entry *e, struct cache_entry **dead)
{
	lock_assert_held(&c->lock);
	free_blocks_locked(c, e);
	e->next = *dead;
	*dead = e;
}

static void
free_dead(struct cache_entry *dead)
{
	while (dead) {
		struct cache_entry *e = dead;

		dead = e->next;
		mem_free(e);
	}
}

/* Takes the entry out of the index, so that it is not found any more. */
static void
unlink_locked(struct cache *c, struct cache_entry *e, struct cache_entry **dead)
{
	struct cache_entry **at = chain_for(c, e->hash);

	lock_assert_held(&c->lock);
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	list_remove(&e->order);
	e->is_linked = 0;
	/* Another process stops to read it before its blocks get other bytes. */
	if (e->blocks)
		atomic_store_explicit(&c->link[e->first].seal, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	if (!e->refs)
		bury_locked(c, e, dead);
}

static void
unref_locked(struct cache *c, struct cache_entry *e, struct cache_entry **dead)
{
	lock_assert_held(&c->lock);
	if (--e->refs)
		return;
	c->n_busy -= e->blocks;
	if (!e->is_linked)
		bury_locked(c, e, dead);
}

/* True if the n bytes at *at are these; *at advances. */
static int
continues_with(const struct cache *c, struct cache_place *at, const char *p, size_t n)
{
	while (n) {
		struct str have = cache_read(c, at, n);

		if (memcmp(have.p, p, have.len) != 0)
			return 0;
		p += have.len;
		n -= have.len;
	}
	return 1;
}

/* The next entry of this key, from e on, that is complete, or is filled and may become so. */
static struct cache_entry *
search_locked(const struct cache *c, struct cache_entry *e, uint64_t hash, struct str key)
{
	lock_assert_held(&c->lock);
	for (; e; e = e->next) {
		struct cache_place at = { e->first, sizeof(struct cache_object) };

		if (e->hash != hash || e->key_len != key.len)
			continue;
		/* One that is filled may have no key yet: its hash is enough. */
		if (e->is_filling ? !e->is_void : continues_with(c, &at, key.p, key.len))
			break;
	}
	return e;
}

/* --- variants --- */

static int
has_text(uint32_t by, unsigned int i)
{
	return (by & CACHE_BY_TEXT << i) != 0;
}

static size_t
texts_size(const struct cache_variant *v)
{
	size_t n = 0;

	for (unsigned int i = 0; i < CACHE_TEXTS; i++)
		n += has_text(v->by, i) ? v->text[i].len + 1 : 0;
	return n;
}

/* The hash of the texts that objects selected by these have. */
static uint64_t
texts_hash(const struct cache *c, const struct cache_variant *v, uint32_t by)
{
	uint64_t h = 0;

	for (unsigned int i = 0; i < CACHE_TEXTS; i++)
		if (has_text(by, i))
			h = h * 31 + keyhash(&c->hash, v->text[i].p, v->text[i].len) + 1;
	return h;
}

/* True if the object serves this request. */
static int
serves_locked(const struct cache *c, const struct cache_entry *e, const struct cache_variant *v)
{
	struct cache_place at = { e->first, sizeof(struct cache_object) };

	lock_assert_held(&c->lock);
	if ((e->by & CACHE_BY_CODINGS) && (e->codings & ~v->codings))
		return 0;
	if (!e->texts_len)
		return 1;
	if (e->texts != texts_hash(c, v, e->by))
		return 0;
	for (size_t skip = e->key_len; skip;)
		skip -= cache_read(c, &at, skip).len;
	for (unsigned int i = 0; i < CACHE_TEXTS; i++)
		if (has_text(e->by, i) &&
			(!continues_with(c, &at, v->text[i].p, v->text[i].len) ||
				!continues_with(c, &at, "\n", 1)))
			return 0;
	return 1;
}

static int
is_same_variant(const struct cache_entry *a, const struct cache_entry *b)
{
	return a->by == b->by && a->codings == b->codings && a->texts == b->texts &&
		a->texts_len == b->texts_len;
}

/* --- reading --- */

struct str
cache_read(const struct cache *c, struct cache_place *at, size_t most)
{
	struct str out;

	if (at->at == CACHE_BLOCK) {
		at->block = c->link[at->block].next;
		at->at = 0;
	}
	out.p = cache_block(c, at->block) + at->at;
	out.len = CACHE_BLOCK - at->at;
	/* The blocks of a record stand side by side. */
	while (out.len < most && c->link[at->block].next == at->block + 1 &&
		(at->block + 1) >> CACHE_CHUNK_BITS == at->block >> CACHE_CHUNK_BITS) {
		at->block++;
		out.len += CACHE_BLOCK;
	}
	at->at = CACHE_BLOCK;
	if (out.len > most) {
		at->at -= (uint32_t)(out.len - most);
		out.len = most;
	}
	return out;
}

void
cache_read_head(const struct cache *c, const struct cache_entry *e, char *to,
	struct cache_place *body)
{
	size_t skip = e->key_len + e->texts_len, n = e->head_len;

	*body = (struct cache_place){ e->first, sizeof(struct cache_object) };
	while (skip)
		skip -= cache_read(c, body, skip).len;
	while (n) {
		struct str s = cache_read(c, body, n);

		memcpy(to, s.p, s.len);
		to += s.len;
		n -= s.len;
	}
}

static struct cache_entry *
find_served_locked(struct cache *c, const struct cache_caller *by, uint64_t hash, struct str key,
	const struct cache_variant *request, struct cache_entry **dead)
{
	struct cache_entry *e, *next;

	lock_assert_held(&c->lock);
	for (e = search_locked(c, *chain_for(c, hash), hash, key); e; e = next) {
		next = search_locked(c, e->next, hash, key);
		if (e->is_filling)
			continue;
		if (e->expires_ms <= by->now_ms)
			unlink_locked(c, e, dead);
		else if (serves_locked(c, e, request))
			break;
	}
	if (e) {
		c->n_busy += e->refs++ ? 0 : e->blocks;
		e->is_touched = 1;
	}
	return e;
}

struct cache_entry *
cache_find(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *request)
{
	uint64_t hash = keyhash(&c->hash, key.p, key.len);
	struct cache_entry *e, *dead = NULL;

	lock_take(&c->lock, by->sys);
	e = find_served_locked(c, by, hash, key, request, &dead);
	lock_drop(&c->lock);
	free_dead(dead);
	return e;
}

void
cache_unref(struct cache *c, const struct cache_caller *by, struct cache_entry *e)
{
	struct cache_entry *dead = NULL;

	lock_take(&c->lock, by->sys);
	unref_locked(c, e, &dead);
	lock_drop(&c->lock);
	free_dead(dead);
}

/* --- claims --- */

static struct cache_claim **
claims_for(struct cache *c, uint64_t hash)
{
	return &c->claim[keyhash_slot(hash, CACHE_CLAIMS)];
}

/* Joins the claim on a key. If there is none and may_hold is set, `new` becomes the claim. A claim
 * that is older than collapse_ms is left alone. */
static void
join_locked(struct cache *c, struct cache_claim *new, unsigned int worker, int may_hold,
	struct cache_claimed *out)
{
	struct cache_claim **list = claims_for(c, new->hash), *x = *list;

	lock_assert_held(&c->lock);
	while (x && x->hash != new->hash)
		x = x->next;
	if (x ? new->begun_ms >= x->begun_ms + c->conf.collapse_ms : !may_hold)
		return;
	out->is_mine = !x;
	if (!x) {
		x = new;
		x->next = *list;
		*list = x;
	} else {
		x->waiting |= UINT64_C(1) << worker;
	}
	x->refs++;
	out->claim = x;
}

struct cache_claimed
cache_claim(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *request, unsigned int worker, int may_hold)
{
	struct cache_claimed out = { NULL, NULL, 0 };
	struct cache_claim *new = mem_zalloc(sizeof(*new));
	struct cache_entry *dead = NULL;

	if (!new)
		return out;
	new->hash = keyhash(&c->hash, key.p, key.len);
	new->begun_ms = by->now_ms;
	lock_take(&c->lock, by->sys);
	out.entry = find_served_locked(c, by, new->hash, key, request, &dead);
	if (!out.entry && c->refused_ms[keyhash_slot(new->hash, CACHE_REMOVALS)] <= by->now_ms)
		join_locked(c, new, worker, may_hold, &out);
	lock_drop(&c->lock);
	free_dead(dead);
	if (!out.is_mine)
		mem_free(new);
	return out;
}

/* True if that was the last reference: the caller frees it. */
static int
release_locked(struct cache *c, struct cache_claim *claim)
{
	lock_assert_held(&c->lock);
	return --claim->refs == 0;
}

uint64_t
cache_end_claim(struct cache *c, const struct cache_caller *by, struct cache_claim *claim,
	int is_refused)
{
	struct cache_claim **at;
	uint64_t who;
	int is_last;

	lock_take(&c->lock, by->sys);
	at = claims_for(c, claim->hash);
	while (*at != claim)
		at = &(*at)->next;
	*at = claim->next;
	if (is_refused)
		c->refused_ms[keyhash_slot(claim->hash, CACHE_REMOVALS)] = by->now_ms +
			CACHE_REFUSED_MS;
	who = claim->waiting;
	(void)atomic_swap(&claim->is_over, 1);
	is_last = release_locked(c, claim);
	lock_drop(&c->lock);
	if (is_last)
		mem_free(claim);
	return who;
}

void
cache_leave_claim(struct cache *c, const struct cache_caller *by, struct cache_claim *claim)
{
	int is_last;

	lock_take(&c->lock, by->sys);
	is_last = release_locked(c, claim);
	lock_drop(&c->lock);
	if (is_last)
		mem_free(claim);
}

/* --- filling --- */

/* Removes the oldest entry that was not found lately. 0: there is none. */
static int
evict_locked(struct cache *c, struct cache_entry **dead)
{
	lock_assert_held(&c->lock);
	for (int i = 0; !list_is_empty(&c->order); i++) {
		struct cache_entry *e = list_first(&c->order, struct cache_entry, order);

		if (!e->is_touched || i >= SECOND_CHANCES) {
			unlink_locked(c, e, dead);
			return 1;
		}
		e->is_touched = 0;
		list_remove(&e->order);
		list_append(&c->order, &e->order);
	}
	return 0;
}

/* Appends n blocks to an object. 0 or -ERR_FULL. */
static int
extend_locked(struct cache *c, struct cache_entry *e, uint32_t n, struct cache_entry **dead)
{
	lock_assert_held(&c->lock);
	while (c->n_free < n)
		if (!evict_locked(c, dead))
			return -ERR_FULL;
	while (n--) {
		uint32_t block = take_block_locked(c);

		if (e->blocks)
			c->link[e->last].next = block;
		else
			e->first = block;
		if (!e->blocks)
			e->end = (struct cache_place){ block, sizeof(struct cache_object) };
		c->link[block].next = CACHE_NONE;
		e->last = block;
		e->blocks++;
		c->n_busy++;
	}
	return 0;
}

static void
fill_blocks(struct cache *c, struct cache_entry *e, const char *p, size_t n)
{
	e->size += n;
	while (n) {
		struct str to = cache_read(c, &e->end, n);

		memcpy((char *)(uintptr_t)to.p, p, to.len);
		p += to.len;
		n -= to.len;
	}
}

static uint64_t
blocks_for(uint64_t size)
{
	return (size + CACHE_BLOCK - 1) / CACHE_BLOCK;
}

int
cache_write(struct cache *c, const struct cache_caller *by, struct cache_entry *e, const char *p,
	size_t n)
{
	struct cache_entry *dead = NULL;
	uint64_t need;
	int r;

	if (n > c->conf.max_object ||
		e->size - sizeof(struct cache_object) + n > c->conf.max_object)
		return -ERR_RANGE;
	need = blocks_for(e->size + n);
	if (need > e->blocks) {
		lock_take(&c->lock, by->sys);
		r = extend_locked(c, e, (uint32_t)need - e->blocks, &dead);
		lock_drop(&c->lock);
		free_dead(dead);
		if (r < 0)
			return r;
	}
	fill_blocks(c, e, p, n);
	return 0;
}

/* Ends a fill without an object. */
static void
abort_locked(struct cache *c, struct cache_entry *e, struct cache_entry **dead)
{
	lock_assert_held(&c->lock);
	unlink_locked(c, e, dead);
	unref_locked(c, e, dead);
}

void
cache_abort(struct cache *c, const struct cache_caller *by, struct cache_entry *e)
{
	struct cache_entry *dead = NULL;

	lock_take(&c->lock, by->sys);
	abort_locked(c, e, &dead);
	lock_drop(&c->lock);
	free_dead(dead);
}

static uint32_t
mark_locked(const struct cache *c, uint64_t hash)
{
	lock_assert_held(&c->lock);
	return c->removals[keyhash_slot(hash, CACHE_REMOVALS)] + c->clears;
}

uint32_t
cache_mark(struct cache *c, const struct cache_caller *by, struct str key)
{
	uint64_t hash = keyhash(&c->hash, key.p, key.len);
	uint32_t mark;

	lock_take(&c->lock, by->sys);
	mark = mark_locked(c, hash);
	lock_drop(&c->lock);
	return mark;
}

/* 0, or -1: another one fills this object, or its key has as many variants as may be. Removes those
 * that are too old. */
static int
admit_fill_locked(struct cache *c, const struct cache_caller *by, const struct cache_entry *fill,
	struct str key, struct cache_entry **dead)
{
	struct cache_entry *next, *e = search_locked(c, *chain_for(c, fill->hash), fill->hash, key);
	uint32_t others = 0;

	lock_assert_held(&c->lock);
	for (; e; e = next) {
		next = search_locked(c, e->next, fill->hash, key);
		if (is_same_variant(e, fill) && e->is_filling)
			return -1;
		if (!e->is_filling && e->expires_ms <= by->now_ms)
			unlink_locked(c, e, dead);
		else
			others += e->by && !is_same_variant(e, fill);
	}
	return !fill->by || others < c->conf.variants_max ? 0 : -1;
}

/* Makes the entry of a fill, which others see from now on. NULL: it may not be filled, or its key
 * has been removed since the mark, or there is no memory. */
static struct cache_entry *
begin_entry(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *v, uint32_t mark)
{
	struct cache_entry *dead = NULL, *e = mem_zalloc(sizeof(*e));
	int is_busy;

	if (!e)
		return NULL;
	e->hash = keyhash(&c->hash, key.p, key.len);
	e->key_len = (uint32_t)key.len;
	e->by = v->by;
	e->codings = v->by & CACHE_BY_CODINGS ? v->codings : 0;
	e->texts = texts_hash(c, v, v->by);
	e->texts_len = (uint32_t)texts_size(v);
	/* The object itself is written when it is complete. */
	e->size = sizeof(struct cache_object);
	e->refs = 1;
	e->is_linked = e->is_filling = 1;
	list_init(&e->order);
	lock_take(&c->lock, by->sys);
	is_busy = mark_locked(c, e->hash) != mark || admit_fill_locked(c, by, e, key, &dead) < 0;
	if (!is_busy) {
		struct cache_entry **chain = chain_for(c, e->hash);

		e->next = *chain;
		*chain = e;
	}
	lock_drop(&c->lock);
	free_dead(dead);
	if (!is_busy)
		return e;
	mem_free(e);
	return NULL;
}

static int
write_texts(struct cache *c, const struct cache_caller *by, struct cache_entry *e,
	const struct cache_variant *v)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < CACHE_TEXTS; i++) {
		if (!has_text(v->by, i))
			continue;
		r = cache_write(c, by, e, v->text[i].p, v->text[i].len);
		if (r == 0)
			r = cache_write(c, by, e, "\n", 1);
	}
	return r;
}

struct cache_entry *
cache_begin(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *v, uint32_t mark)
{
	struct cache_entry *e;

	if (key.len > CACHE_KEY_MAX || texts_size(v) > CACHE_TEXTS_MAX ||
		key.len > c->conf.max_object)
		return NULL;
	e = begin_entry(c, by, key, v, mark);
	if (!e)
		return NULL;
	if (cache_write(c, by, e, key.p, key.len) < 0 || write_texts(c, by, e, v) < 0) {
		cache_abort(c, by, e);
		return NULL;
	}
	return e;
}

void
cache_end_head(struct cache_entry *e)
{
	e->head_len = (uint32_t)(e->size - sizeof(struct cache_object) - e->key_len -
		e->texts_len);
}

static void
publish_locked(struct cache *c, struct cache_entry *e, struct cache_entry **dead)
{
	lock_assert_held(&c->lock);
	e->is_filling = 0;
	list_append(&c->order, &e->order);
	c->seal = c->seal + 1 ? c->seal + 1 : 1;
	atomic_store_explicit(&c->link[e->first].seal, c->seal, memory_order_release);
	unref_locked(c, e, dead);
}

/* Removes the objects that a new one replaces. */
static void
replace_locked(struct cache *c, const struct cache_entry *new, struct str key,
	struct cache_entry **dead)
{
	struct cache_entry *next, *e = search_locked(c, *chain_for(c, new->hash), new->hash, key);

	lock_assert_held(&c->lock);
	for (; e; e = next) {
		next = search_locked(c, e->next, new->hash, key);
		if (!e->is_filling && (!e->by || !new->by || is_same_variant(e, new)))
			unlink_locked(c, e, dead);
	}
}

void
cache_commit(struct cache *c, const struct cache_caller *by, struct cache_entry *e, struct str key)
{
	struct cache_object o = { .expires_ms = e->expires_ms, .born_ms = e->born_ms,
		.key_len = e->key_len, .texts_len = e->texts_len, .head_len = e->head_len,
		.by = e->by, .codings = e->codings };
	struct cache_entry *dead = NULL;

	e->body_len = e->size - sizeof(o) - e->key_len - e->texts_len - e->head_len;
	o.body_len = e->body_len;
	memcpy(cache_block(c, e->first), &o, sizeof(o));
	lock_take(&c->lock, by->sys);
	if (e->is_void) {
		abort_locked(c, e, &dead);
	} else {
		replace_locked(c, e, key, &dead);
		publish_locked(c, e, &dead);
	}
	lock_drop(&c->lock);
	free_dead(dead);
}

/* --- removing --- */

unsigned int
cache_remove(struct cache *c, const struct cache_caller *by, struct str key)
{
	uint64_t hash = keyhash(&c->hash, key.p, key.len);
	struct cache_entry *e, *next, *dead = NULL;
	unsigned int found = 0;

	lock_take(&c->lock, by->sys);
	for (e = search_locked(c, *chain_for(c, hash), hash, key); e; e = next) {
		next = search_locked(c, e->next, hash, key);
		found += !e->is_filling;
		if (e->is_filling)
			e->is_void = 1;
		else
			unlink_locked(c, e, &dead);
	}
	c->removals[keyhash_slot(hash, CACHE_REMOVALS)]++;
	lock_drop(&c->lock);
	free_dead(dead);
	return found;
}

/* Removes the entries of a chain. The number of complete ones. */
static unsigned int
clear_chain_locked(struct cache *c, struct cache_entry *e, struct cache_entry **dead)
{
	unsigned int n = 0;

	lock_assert_held(&c->lock);
	for (struct cache_entry *next; e; e = next) {
		next = e->next;
		e->is_void |= e->is_filling;
		if (e->is_filling)
			continue;
		unlink_locked(c, e, dead);
		n++;
	}
	return n;
}

unsigned int
cache_clear(struct cache *c, const struct cache_caller *by)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < c->n_chains;) {
		struct cache_entry *dead = NULL;

		lock_take(&c->lock, by->sys);
		c->clears += i == 0;
		for (uint32_t end = MIN(i + CACHE_CHAINS_AT_ONCE, c->n_chains); i < end; i++)
			n += clear_chain_locked(c, c->chain[i], &dead);
		lock_drop(&c->lock);
		free_dead(dead);
	}
	return n;
}
