/* A hash table of entries by text, chained. While it grows an entry is in one of two arrays;
 * each insertion moves some. */
#include "rule/match/pattern_table.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

#define BUCKETS_FIRST 2
/* Old buckets moved with each entry: a table that has doubled has room for as many entries as it
 * had buckets. */
#define MOVED_AT_ONCE 2

void
pattern_table_init(struct pattern_table *t, const struct keyhash *key)
{
	memset(t, 0, sizeof(*t));
	t->key = *key;
}

void
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

int
pattern_table_reserve(struct pattern_table *t, uint64_t n)
{
	for (int i = 0; i < MOVED_AT_ONCE && t->old; i++)
		move_one(t);
	return n < t->n_buckets ? 0
				: grow_buckets(t, t->n_buckets ? 2 * t->n_buckets : BUCKETS_FIRST);
}

int
pattern_table_expect(struct pattern_table *t, uint64_t n)
{
	uint32_t want = BUCKETS_FIRST;

	while (want < n && want < PATTERN_SET_MAX)
		want *= 2;
	return t->n_buckets ? 0 : grow_buckets(t, want);
}

void
pattern_table_prefetch(const struct pattern_table *t, const struct pattern_entry *e)
{
	if (t->n_buckets)
		__builtin_prefetch(bucket_of(t, e->hash), 1);
}

void
pattern_table_add(struct pattern_table *t, struct pattern_entry *e)
{
	push_entry(bucket_of(t, e->hash), e);
}

void
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

struct pattern_entry *
pattern_table_next(const struct pattern_entry *e)
{
	return first_equal(e->next, pattern_entry_text(e));
}
