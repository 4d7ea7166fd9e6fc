/* The entries of a map or an ACL and the sets that are made of them. Changed while workers
 * are paused, or under the guard; entries and sets always agree. */
#include "rule/match/pattern_ref.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"

/* --- the table of entries by text ------------------------------------------------------------ */

#define BUCKETS_FIRST 2
/* Old buckets moved with each entry: a table that has doubled has room for as many entries as it
 * had buckets. */
#define MOVED_AT_ONCE 2

static void
pattern_table_init(struct pattern_table *t, const struct keyhash *key)
{
	memset(t, 0, sizeof(*t));
	t->key = *key;
}

/* The entries have another owner. */
static void
pattern_table_fini(struct pattern_table *t)
{
	mem_free(t->bucket);
	mem_free(t->old);
	memset(t, 0, sizeof(*t));
}

/* The current bucket of a hash. Buckets are indexed by the upper bits, so an old one splits into
 * two neighbours. */
static struct pattern_entry **
bucket_of(const struct pattern_table *t, uint64_t hash)
{
	uint32_t at = keyhash_slot(hash, t->n_buckets);

	return t->old && at / 2 >= t->moved ? &t->old[at / 2] : &t->bucket[at];
}

static void
push_entry(struct pattern_entry **at, struct pattern_entry *e)
{
	e->next = *at;
	*at = e;
}

static uint64_t
entry_hash(const struct pattern_table *t, const struct pattern_entry *e)
{
	return keyhash(&t->key, e->bytes, e->first.text_len);
}

static void
move_one(struct pattern_table *t)
{
	struct pattern_entry *e = t->old[t->moved], *next;

	t->bucket[2 * t->moved] = t->bucket[2 * t->moved + 1] = NULL;
	for (; e; e = next) {
		next = e->next;
		push_entry(&t->bucket[keyhash_slot(entry_hash(t, e), t->n_buckets)], e);
	}
	if (++t->moved < t->n_buckets / 2)
		return;
	mem_free(t->old);
	t->old = NULL;
}

/* The first buckets are empty; later ones are written before they are read (move_one). */
static int
grow_buckets(struct pattern_table *t, uint32_t want)
{
	struct pattern_entry **bucket = t->n_buckets
		? mem_alloc(want * sizeof(struct pattern_entry *))
		: mem_zalloc(want * sizeof(struct pattern_entry *));

	assert(!t->old);
	if (!bucket)
		return -ERR_NOMEM;
	t->old = t->bucket;
	t->moved = 0;
	t->bucket = bucket;
	t->n_buckets = want;
	return 0;
}

/* Reserves room for one entry more than n. 0 or -ERR_NOMEM. */
static int
pattern_table_reserve(struct pattern_table *t, uint64_t n)
{
	for (int i = 0; i < MOVED_AT_ONCE && t->old; i++)
		move_one(t);
	return n < t->n_buckets ? 0
				: grow_buckets(t, t->n_buckets ? 2 * t->n_buckets : BUCKETS_FIRST);
}

/* Makes an empty table large enough for n entries. 0 or -ERR_NOMEM. */
static int
pattern_table_expect(struct pattern_table *t, uint64_t n)
{
	uint32_t want = BUCKETS_FIRST;

	while (want < n && want < PATTERN_SET_MAX)
		want *= 2;
	return t->n_buckets ? 0 : grow_buckets(t, want);
}

/* Asks for the memory that adding e will touch, before it is added. */
static void
pattern_table_prefetch(const struct pattern_table *t, const struct pattern_entry *e)
{
	if (t->n_buckets)
		__builtin_prefetch(bucket_of(t, e->hash), 1);
}

/* Adds an entry whose id is still the hash of its text. There must be room. */
static void
pattern_table_add(struct pattern_table *t, struct pattern_entry *e)
{
	push_entry(bucket_of(t, e->hash), e);
}

static void
pattern_table_remove(struct pattern_table *t, struct pattern_entry *e)
{
	struct pattern_entry **at = bucket_of(t, entry_hash(t, e));

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
}

static struct pattern_entry *
first_equal(struct pattern_entry *e, struct str text)
{
	while (e && !str_is(pattern_entry_text(e), text))
		e = e->next;
	return e;
}

struct pattern_entry *
pattern_table_find(const struct pattern_table *t, struct str text)
{
	return t->n_buckets ? first_equal(*bucket_of(t, keyhash(&t->key, text.p, text.len)), text)
			    : NULL;
}

static struct pattern_entry *
pattern_table_next(const struct pattern_entry *e)
{
	return first_equal(e->next, pattern_entry_text(e));
}

/* --- saved changes --------------------------------------------------------------------------- */

/*
 * Slots of changed entries. Under the guard of the ref, or while the workers are paused. A slot
 * is complete before its kind is written, and free before another entry gets it.
 */

enum { FIRST_CHUNK = 4096, CHUNK = 65536 };

int
pattern_kept_begin(struct pattern_ref *ref, struct memfile *file, uint32_t kind)
{
	ref->kept = mem_zalloc(sizeof(*ref->kept));
	if (!ref->kept)
		return -ERR_NOMEM;
	ref->kept->file = file;
	ref->kept->kind = kind;
	return 0;
}

/* --- memory --- */

static int
add_chunk(struct pattern_ref *ref, size_t size)
{
	struct pattern_kept *k = ref->kept;
	struct pattern_kept_head *head;

	size = MAX(size + sizeof(*head), (size_t)(k->head ? CHUNK : FIRST_CHUNK));
	head = memfile_add(k->file, k->kind, ref->path, "", size);
	if (!head)
		return -ERR_FULL;
	if (!k->head) {
		*head = (struct pattern_kept_head){ .is_first = 1, .file_hash = ref->file_hash,
			.version = ref->version };
		k->head = head;
	}
	k->at = (char *)(head + 1);
	k->left = size - sizeof(*head);
	return 0;
}

static unsigned int
bits_of(size_t size)
{
	unsigned int bits = KEPT_SLOT_MIN_BITS;

	while (bits <= KEPT_SLOT_MAX_BITS && ((size_t)1 << bits) < size)
		bits++;
	return bits;
}

/* The next free slot of this size is named in its bytes. */
static struct kept_slot *
take_free_slot(struct pattern_kept *k, unsigned int bits)
{
	struct kept_slot *s = k->free[bits];

	if (s)
		memcpy(&k->free[bits], s->bytes, sizeof(s));
	return s;
}

static struct kept_slot *
new_slot(struct pattern_ref *ref, size_t bytes)
{
	struct pattern_kept *k = ref->kept;
	unsigned int bits = bits_of(sizeof(struct kept_slot) + bytes);
	size_t size = (size_t)1 << bits;
	struct kept_slot *s;

	if (bits > KEPT_SLOT_MAX_BITS)
		return NULL;
	s = take_free_slot(k, bits);
	if (s)
		return s;
	if (k->left < size && add_chunk(ref, size) < 0)
		return NULL;
	s = (struct kept_slot *)(void *)k->at;
	s->size = (uint32_t)size;
	k->at += size;
	k->left -= size;
	return s;
}

static void
free_slot(struct pattern_kept *k, struct kept_slot *s)
{
	unsigned int bits = bits_of(s->size);

	counter_set(&s->kind, KEPT_SLOT_FREE);
	/* A reader that sees the new kind sees another serial, too. */
	atomic_store_explicit(&s->serial, 0, memory_order_release);
	memcpy(s->bytes, &k->free[bits], sizeof(s));
	k->free[bits] = s;
}

/* NULL: there is no room, which is counted. */
static struct kept_slot *
fill_new_slot(struct pattern_ref *ref, enum kept_slot_kind kind, const struct pattern_entry *e,
	uint64_t serial)
{
	int has_value = kind != KEPT_SLOT_GONE && e->value;
	struct kept_slot *s =
		new_slot(ref, e->first.text_len + (has_value ? e->value_len : 0));

	if (!s) {
		if (ref->kept->head)
			ref->kept->head->lost++;
		return NULL;
	}
	s->version = e->version;
	s->text_len = e->first.text_len;
	s->value_len = has_value ? e->value_len : KEPT_SLOT_NO_VALUE;
	memcpy(s->bytes, e->bytes, e->first.text_len);
	if (has_value)
		memcpy(s->bytes + e->first.text_len, e->value, e->value_len);
	counter_set(&s->serial, serial);
	atomic_store_explicit(&s->kind, (uint32_t)kind, memory_order_release);
	return s;
}

/* --- changes --- */

static void
pattern_kept_add(struct pattern_ref *ref, struct pattern_entry *e)
{
	if (ref->kept)
		e->slot = fill_new_slot(ref, KEPT_SLOT_ENTRY, e, ++ref->kept->serial);
}

/* The old slot goes when the new one is complete: with the same serial they are one to a reader. */
static void
pattern_kept_change(struct pattern_ref *ref, struct pattern_entry *e)
{
	struct kept_slot *old = e->slot;
	struct pattern_kept *k = ref->kept;

	if (!k)
		return;
	if (old)
		e->slot = fill_new_slot(ref, (enum kept_slot_kind)counter_read(&old->kind), e,
			counter_read(&old->serial));
	else
		e->slot = fill_new_slot(ref, KEPT_SLOT_VALUE, e, ++k->serial);
	if (old)
		free_slot(k, old);
}

/* Before its removal. */
static void
pattern_kept_drop(struct pattern_ref *ref, struct pattern_entry *e, int is_current)
{
	struct pattern_kept *k = ref->kept;
	int was_added = 0;

	if (!k)
		return;
	if (e->slot) {
		was_added = counter_read(&e->slot->kind) == KEPT_SLOT_ENTRY;
		free_slot(k, e->slot);
		e->slot = NULL;
	}
	if (!was_added && is_current && !(k->head && k->head->file_is_gone))
		(void)!fill_new_slot(ref, KEPT_SLOT_GONE, e, ++k->serial);
}

void
pattern_kept_replace(struct pattern_ref *ref, int clears)
{
	struct pattern_kept *k = ref->kept;

	if (!k || (!k->head && add_chunk(ref, 0) < 0))
		return;
	k->head->file_is_gone = 1;
	k->head->version = ref->version;
	k->head->cleared = clears ? k->serial : 0;
}

/* --- refs ------------------------------------------------------------------------------------ */

struct pattern_ref *
pattern_ref_new(const char *path, const struct keyhash *key)
{
	struct pattern_ref *ref = mem_zalloc(sizeof(*ref));

	if (!ref)
		return NULL;
	list_init(&ref->link);
	list_init(&ref->entries);
	ref->id = PATTERN_ID_NONE;
	pattern_table_init(&ref->table, key);
	if (mem_copy_string(&ref->path, path) < 0) {
		mem_free(ref);
		return NULL;
	}
	return ref;
}

static int
ref_no_memory(struct rule_err *why)
{
	why->at = 0;
	snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
	return -ERR_NOMEM;
}

/* --- entries --- */

/* Removes it from its table and frees it. */
static void
drop_entry(struct pattern_ref *ref, struct pattern_entry *e, int in_sets)
{
	pattern_kept_drop(ref, e, in_sets);
	if (in_sets)
		pattern_entry_leave(e, ref->feed);
	if (pattern_coming_has(ref, e))
		pattern_entry_leave_sets(e, ref->coming.set);
	pattern_table_remove(&ref->table, e);
	if (ref->walks)
		cursors_leave(ref->walks, &e->link);
	list_remove(&e->link);
	counter_sub(&ref->n, 1);
	pattern_entry_free(e);
}

void
pattern_ref_free(struct pattern_ref **refp)
{
	struct pattern_ref *ref = *refp;

	if (!ref)
		return;
	list_each_safe(it, &ref->entries)
		pattern_entry_free(list_entry(it, struct pattern_entry, link));
	pattern_table_fini(&ref->table);
	pattern_coming_end(ref);
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		mem_free(ref->feed[i]);
	mem_free(ref->feed);
	mem_free(ref->kept);
	mem_free(ref->path);
	mem_free(ref->where);
	mem_free(ref->walks);
	mem_free(ref);
	*refp = NULL;
}

struct list *
pattern_ref_resume(struct pattern_ref *ref, uint64_t after)
{
	struct list *at = NULL;

	if (after && ref->walks)
		at = cursors_take(ref->walks, after);
	if (at)
		return at;
	at = ref->entries.next;
	while (at != &ref->entries && list_entry(at, struct pattern_entry, link)->id <= after)
		at = at->next;
	return at;
}

void
pattern_ref_pause(struct pattern_ref *ref, uint64_t after, struct list *next)
{
	if (!ref->walks)
		ref->walks = mem_zalloc(sizeof(*ref->walks));
	/* Without memory it is found by the id. */
	if (ref->walks)
		cursors_put(ref->walks, after, next);
}

/* --- sets of entries --- */

int
pattern_ref_feed(
	struct pattern_ref *ref, struct pattern_set *set, unsigned int flags, struct rule_err *why)
{
	struct pattern_feed **grown =
		mem_resize(ref->feed, ref->n_feeds + 1, sizeof(struct pattern_feed *));
	struct pattern_feed *feed = mem_alloc(sizeof(*feed));

	assert(ref->table.key.point == set->index[0].key.point);
	if (grown)
		ref->feed = grown;
	if (!grown || !feed) {
		mem_free(feed);
		return ref_no_memory(why);
	}
	pattern_coming_end(ref);
	*feed = (struct pattern_feed){ ref, set, flags, set->feeds };
	set->feeds = feed;
	ref->feed[ref->n_feeds++] = feed;
	if (ref->is_live)
		set->guard = &ref->lock;
	list_each(it, &ref->entries) {
		struct pattern_entry *e = list_entry(it, struct pattern_entry, link);
		struct pattern *t;
		int rc = pattern_entry_feed(e, set, PATTERN_EQ, flags, &t, why);

		if (rc == 0 && e->version == ref->version && pattern_set_enter(set, t) < 0)
			rc = ref_no_memory(why);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void
pattern_ref_unfeed(struct pattern_ref *ref)
{
	for (unsigned int i = 0; i < ref->n_feeds; i++) {
		struct pattern_feed **at = &ref->feed[i]->set->feeds;

		while (*at != ref->feed[i])
			at = &(*at)->other;
		*at = ref->feed[i]->other;
		mem_free(ref->feed[i]);
	}
	ref->n_feeds = 0;
}

void
pattern_ref_guard(struct pattern_ref *ref)
{
	assert(ref->path);
	ref->is_live = 1;
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		ref->feed[i]->set->guard = &ref->lock;
}

int
pattern_ref_has_version(const struct pattern_ref *ref, uint32_t version)
{
	return (int32_t)(ref->next - version) >= 0;
}

int
pattern_ref_make(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct pattern_entry **out, struct rule_err *why)
{
	struct pattern_entry *e;
	struct pattern *t;
	int rc = pattern_check_text(text, why);

	if (rc < 0)
		return rc;
	e = ref->n_feeds ? pattern_entry_new_for(&ref->table.key, text, value, ref->feed[0]->set,
				   ref->feed[0]->flags)
			 : pattern_entry_new(&ref->table.key, text, value);
	if (!e)
		return ref_no_memory(why);
	e->version = version;
	for (unsigned int i = 0; i < ref->n_feeds && rc == 0; i++)
		rc = pattern_entry_feed(
			e, ref->feed[i]->set, PATTERN_EQ, ref->feed[i]->flags, &t, why);
	if (rc < 0)
		pattern_entry_free(e);
	else
		*out = e;
	return rc;
}

int
pattern_ref_join(struct pattern_ref *ref, struct pattern_entry *e, struct rule_err *why)
{
	int rc = 0;

	why->at = 0;
	if (ref->n == PATTERN_SET_MAX) {
		snprintf(why->text, sizeof(why->text), "more than %u patterns", PATTERN_SET_MAX);
		return -ERR_FULL;
	}
	if (pattern_table_reserve(&ref->table, ref->n) < 0)
		return ref_no_memory(why);
	if (e->version == ref->version)
		rc = pattern_entry_enter(e, ref->feed, why);
	else if (ref->coming.set && e->version == ref->coming.version)
		rc = pattern_entry_enter_sets(e, ref->coming.set, why);
	if (rc < 0)
		return rc;
	pattern_table_add(&ref->table, e);
	e->id = ++ref->last_id;
	list_append(&ref->entries, &e->link);
	counter_add(&ref->n, 1);
	pattern_kept_add(ref, e);
	return 0;
}

int
pattern_ref_expect(struct pattern_ref *ref, uint64_t n, struct rule_err *why)
{
	int rc = pattern_table_expect(&ref->table, n);

	for (unsigned int i = 0; i < ref->n_feeds && rc == 0; i++)
		rc = pattern_set_expect(ref->feed[i]->set, ref->feed[i]->flags, n);
	return rc < 0 ? ref_no_memory(why) : 0;
}

void
pattern_ref_prefetch(struct pattern_ref *ref, struct pattern_entry *e)
{
	const struct pattern *t = pattern_entry_first(e);

	pattern_table_prefetch(&ref->table, e);
	for (unsigned int i = 0; t; t = t->next, i++)
		pattern_set_prefetch(ref->feed[i]->set, t);
}

int
pattern_ref_add(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct rule_err *why)
{
	struct pattern_entry *e;
	int rc = pattern_ref_make(ref, version, text, value, &e, why);

	if (rc < 0)
		return rc;
	rc = pattern_ref_join(ref, e, why);
	if (rc < 0)
		pattern_entry_free(e);
	return rc;
}

/* --- one by one --- */

unsigned int
pattern_ref_del(struct pattern_ref *ref, struct str text)
{
	struct pattern_entry *e = pattern_table_find(&ref->table, text), *next;
	unsigned int n = 0;

	for (; e; e = next, n++) {
		next = pattern_table_next(e);
		drop_entry(ref, e, pattern_ref_is_current(ref, e));
	}
	return n;
}

struct pattern_entry *
pattern_ref_by_id(const struct pattern_ref *ref, uint64_t id)
{
	list_each(it, &ref->entries) {
		struct pattern_entry *e = list_entry(it, struct pattern_entry, link);

		if (e->id == id)
			return e;
	}
	return NULL;
}

void
pattern_ref_del_entry(struct pattern_ref *ref, struct pattern_entry *e)
{
	drop_entry(ref, e, pattern_ref_is_current(ref, e));
}

int
pattern_ref_set(struct pattern_ref *ref, struct str text, struct str value, struct rule_err *why)
{
	struct pattern_entry *e = pattern_table_find(&ref->table, text);
	int rc, n = 0;

	for (; e; e = pattern_table_next(e), n++) {
		/* All of them have patterns for the same sets, so the first one is enough. */
		rc = pattern_ref_set_entry(ref, e, value, why);
		if (rc < 0)
			return rc;
	}
	return n;
}

int
pattern_ref_set_entry(struct pattern_ref *ref, struct pattern_entry *e, struct str value,
	struct rule_err *why)
{
	int rc = pattern_entry_change(e, value, why);

	if (rc == 0)
		pattern_kept_change(ref, e);
	return rc;
}

const struct pattern_entry *
pattern_ref_find(const struct pattern_ref *ref, struct str text)
{
	const struct pattern_entry *e = pattern_table_find(&ref->table, text), *first = NULL;

	for (; e; e = pattern_table_next(e))
		if (pattern_ref_is_current(ref, e) && (!first || e->id < first->id))
			first = e;
	return first;
}

int
pattern_ref_has(const struct pattern_ref *ref, struct str text, struct str value)
{
	const struct pattern_entry *e = pattern_table_find(&ref->table, text);
	int current = 0;

	for (; e; e = pattern_table_next(e)) {
		if (value.p && !(e->value && str_is(pattern_entry_value(e), value)))
			return 0;
		current |= pattern_ref_is_current(ref, e);
	}
	return current;
}

/* --- prepared contents ----------------------------------------------------------------------- */

/* The sets of the version that was prepared last. First worker; others do not see them. */

void
pattern_coming_end(struct pattern_ref *ref)
{
	for (unsigned int i = 0; ref->coming.set && i < ref->n_feeds; i++)
		pattern_set_forget(&ref->coming.set[i]);
	mem_free(ref->coming.set);
	ref->coming.set = NULL;
}
