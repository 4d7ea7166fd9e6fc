/* The store of objects against a model: what is found, and that what is read never changes. */

#include "base/mem.h"
#include "unit/cache/cache_rig.h"

enum { KEYS = 200, READERS = 40, STEPS = 200000 };

/* The version of a key that has to be found, if any is. */
struct known {
	unsigned int version;  /* 0: none */
	size_t head, body;
	uint64_t expires_ms;
};

struct reader {
	struct cache_entry *e; /* NULL: none */
	struct cache_place at;
	unsigned int key;
	struct known is;
	size_t pos;
};

static struct cache_rig rig;
static struct known known[KEYS];
static struct reader readers[READERS];
static uint64_t seed;
static unsigned int versions, hits, misses;

static unsigned int
draw(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

static void
put_random(void)
{
	unsigned int key = draw(KEYS), ms = 1 + draw(20000);
	struct known k = { .head = 1 + draw(300), .body = draw(4) ? draw(9000) : draw(60000) };

	k.version = ++versions;
	k.expires_ms = rig.by.now_ms + ms;
	if (rig_put(&rig, &rig.by, key, k.version, k.head, k.body, ms))
		known[key] = k;
}

static void
open_reader(struct reader *r)
{
	char text[64], head[400];
	struct str key;

	r->key = draw(KEYS);
	key = rig_key(r->key, text);
	r->e = cache_find(rig.c, &rig.by, key, &rig_all);
	r->is = known[r->key];
	if (!r->e) {
		misses++;
		return;
	}
	hits++;
	assert_true(r->is.version && r->is.expires_ms > rig.by.now_ms);
	assert_int_equal(r->e->head_len, r->is.head);
	assert_int_equal(r->e->body_len, r->is.body);
	cache_read_head(rig.c, r->e, head, &r->at);
	assert_true(rig_is((struct str){ head, r->is.head }, r->key, r->is.version, 0));
	r->pos = 0;
}

/* A slice more, or the end. */
static void
advance_reader(struct reader *r)
{
	size_t most = 1 + draw(5000);
	struct str s;

	if (r->pos == r->is.body || !draw(30)) {
		cache_unref(rig.c, &rig.by, r->e);
		r->e = NULL;
		return;
	}
	s = cache_read(rig.c, &r->at, MIN(r->is.body - r->pos, most));
	assert_true(s.len > 0);
	assert_true(rig_is(s, r->key, r->is.version, r->is.head + r->pos));
	r->pos += s.len;
}

static void
remove_random(void)
{
	char text[64];
	unsigned int key = draw(KEYS);

	(void)cache_remove(rig.c, &rig.by, rig_key(key, text));
	known[key].version = 0;
}

static void
clear_all(void)
{
	(void)cache_clear(rig.c, &rig.by);
	memset(known, 0, sizeof(known));
}

static void
play_one(void)
{
	struct reader *r = &readers[draw(READERS)];
	unsigned int what = draw(1000);

	rig.by.now_ms += draw(10);
	if (what < 300)
		put_random();
	else if (what < 310)
		remove_random();
	else if (what == 310)
		clear_all();
	else if (r->e)
		advance_reader(r);
	else
		open_reader(r);
}

/* All blocks are free, or in complete objects. */
static void
check_blocks(void)
{
	uint32_t held = 0;

	list_each(it, &rig.c->order)
		held += list_entry(it, struct cache_entry, order)->blocks;
	assert_int_equal(rig.c->n_free + held, rig.c->n_blocks);
	assert_int_equal(cache_available(rig.c, &rig.by), rig.c->n_blocks);
}

static void
play(uint64_t with)
{
	seed = with;
	hits = misses = versions = 0;
	memset(known, 0, sizeof(known));
	rig_start(&rig, 1, 50000);
	for (unsigned int i = 0; i < STEPS / test_every(); i++)
		play_one();
	for (int i = 0; i < READERS; i++) {
		if (readers[i].e)
			cache_unref(rig.c, &rig.by, readers[i].e);
		readers[i].e = NULL;
	}
	check_blocks();
	assert_true(hits > 1000 / test_every() && misses > 1000 / test_every());
	(void)cache_clear(rig.c, &rig.by);
	assert_int_equal(rig.c->n_free, rig.c->n_blocks);
	rig_end(&rig);
}

static void
objects_are_those_of_the_model(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		play(i);
}

static void
bounds_are_kept(void **state)
{
	char text[64];
	struct str key = rig_key(1, text);
	struct cache_entry *e, *other;

	(void)state;
	rig_start(&rig, 1, 5000);
	assert_false(rig_put(&rig, &rig.by, 1, 1, 10, 5000, 1000));
	assert_true(rig_put(&rig, &rig.by, 1, 1, 10, 4900, 1000));
	/* Too old. */
	rig.by.now_ms += 999;
	e = cache_find(rig.c, &rig.by, key, &rig_all);
	assert_non_null(e);
	cache_unref(rig.c, &rig.by, e);
	rig.by.now_ms++;
	assert_null(cache_find(rig.c, &rig.by, key, &rig_all));
	/* One fill at a time, and none while all blocks are in use. */
	e = cache_begin(rig.c, &rig.by, key, &rig_all, 0);
	assert_non_null(e);
	assert_null(cache_begin(rig.c, &rig.by, key, &rig_all, 0));
	/* One that is removed while it is filled is not found; another may begin then. */
	assert_int_equal(cache_remove(rig.c, &rig.by, key), 0);
	/* One that was asked for before that does not begin. */
	assert_null(cache_begin(rig.c, &rig.by, key, &rig_all, 0));
	assert_int_equal(cache_mark(rig.c, &rig.by, key), 1);
	other = cache_begin(rig.c, &rig.by, key, &rig_all, 1);
	assert_non_null(other);
	e->expires_ms = other->expires_ms = rig.by.now_ms + 1000;
	cache_end_head(e);
	cache_end_head(other);
	cache_commit(rig.c, &rig.by, e, key);
	assert_null(cache_find(rig.c, &rig.by, key, &rig_all));
	cache_commit(rig.c, &rig.by, other, key);
	e = cache_find(rig.c, &rig.by, key, &rig_all);
	assert_non_null(e);
	cache_unref(rig.c, &rig.by, e);
	rig_end(&rig);
}

/* --- variants --- */

/* Puts an object of key 1, with this version. 1, or 0: it may not be filled. */
static int
put_variant(const struct cache_variant *v, unsigned int version)
{
	char text[64];
	struct str key = rig_key(1, text);
	struct cache_entry *e = cache_begin(rig.c, &rig.by, key, v, 0);

	if (!e)
		return 0;
	assert_int_equal(rig_write(&rig, &rig.by, e, 1, version, 0, 10), 0);
	cache_end_head(e);
	assert_int_equal(rig_write(&rig, &rig.by, e, 1, version, 10, 2000), 0);
	e->born_ms = rig.by.now_ms;
	e->expires_ms = rig.by.now_ms + 1000;
	cache_commit(rig.c, &rig.by, e, key);
	return 1;
}

/* The version, up to 9, that serves this request; 0: none. */
static unsigned int
served(uint32_t codings, const char *referer)
{
	const struct cache_variant v = { .codings = codings,
		.text = { str_of(referer), STR("o") } };
	char text[64], head[10];
	struct cache_entry *e = cache_find(rig.c, &rig.by, rig_key(1, text), &v);
	struct cache_place at;
	unsigned int version = 1;

	if (!e)
		return 0;
	assert_int_equal(e->body_len, 2000);
	cache_read_head(rig.c, e, head, &at);
	while (!rig_is((struct str){ head, 10 }, 1, version, 0))
		assert_true(++version < 10);
	cache_unref(rig.c, &rig.by, e);
	return version;
}

static struct cache_variant
by_codings(uint32_t codings)
{
	return (struct cache_variant){ .by = CACHE_BY_CODINGS, .codings = codings };
}

static struct cache_variant
by_text(const char *text)
{
	return (struct cache_variant){ .by = CACHE_BY_TEXT, .text = { str_of(text) } };
}

static void
variants_are_selected(void **state)
{
	struct cache_variant v = by_codings(1);

	(void)state;
	rig_start(&rig, 1, 5000);
	assert_true(put_variant(&v, 1));
	v = by_codings(4);
	assert_true(put_variant(&v, 2));
	assert_int_equal(served(1, "a"), 1);
	assert_int_equal(served(4, "a"), 2);
	/* The latest of those that serve it. */
	assert_int_equal(served(0x1ff, "a"), 2);
	assert_int_equal(served(0x100, "a"), 0);
	/* The same variant again, and one more than may be. */
	v = by_codings(1);
	assert_true(put_variant(&v, 3));
	assert_int_equal(served(1, "a"), 3);
	v = by_text("a");
	assert_true(put_variant(&v, 4));
	assert_int_equal(served(0, "a"), 4);
	assert_int_equal(served(0, "b"), 0);
	assert_int_equal(served(0, "a\n"), 0);
	v = by_text("b");
	assert_false(put_variant(&v, 5));
	/* Old ones leave room. */
	rig.by.now_ms += 1000;
	assert_int_equal(served(1, "a"), 0);
	assert_true(put_variant(&v, 5));
	assert_int_equal(served(0, "b"), 5);
	/* One that serves all replaces all. */
	assert_true(put_variant(&rig_all, 6));
	assert_int_equal(served(0, "b"), 6);
	assert_true(put_variant(&v, 7));
	assert_int_equal(served(0, "b"), 7);
	assert_int_equal(served(0, "c"), 0);
	rig_end(&rig);
}

static void
variants_are_removed_together(void **state)
{
	struct cache_variant a = by_text("a"), b = by_text("b"), g = by_codings(1);
	struct cache_entry *fill[2];
	char text[64];
	struct str key = rig_key(1, text);

	(void)state;
	rig_start(&rig, 1, 5000);
	assert_true(put_variant(&a, 1));
	assert_true(put_variant(&b, 2));
	/* Fills count as well; one at a time for a variant. */
	fill[0] = cache_begin(rig.c, &rig.by, key, &g, 0);
	assert_non_null(fill[0]);
	assert_null(cache_begin(rig.c, &rig.by, key, &g, 0));
	fill[1] = cache_begin(rig.c, &rig.by, key, &a, 0);
	assert_non_null(fill[1]);
	g = by_codings(2);
	assert_null(cache_begin(rig.c, &rig.by, key, &g, 0));
	assert_int_equal(cache_remove(rig.c, &rig.by, key), 2);
	for (int i = 0; i < 2; i++) {
		cache_end_head(fill[i]);
		fill[i]->expires_ms = rig.by.now_ms + 1000;
		cache_commit(rig.c, &rig.by, fill[i], key);
	}
	assert_int_equal(served(0x1ff, "a"), 0);
	assert_int_equal(rig.c->n_free, rig.c->n_blocks);
	rig_end(&rig);
}

static struct cache_claimed
claim(unsigned int worker, int may_hold)
{
	char text[64];

	return cache_claim(rig.c, &rig.by, rig_key(1, text), &rig_all, worker, may_hold);
}

static void
one_claims_a_key(void **state)
{
	struct cache_claimed mine, other[2], none;

	(void)state;
	rig_start(&rig, 1, 5000);
	/* One that may not hold it does not wait either, while none does. */
	none = claim(0, 0);
	assert_true(!none.claim && !none.entry);
	mine = claim(0, 1);
	assert_true(mine.claim && mine.is_mine);
	other[0] = claim(3, 1);
	other[1] = claim(5, 0);
	assert_true(other[0].claim == mine.claim && !other[0].is_mine);
	assert_true(other[1].claim == mine.claim && !other[1].is_mine);
	cache_leave_claim(rig.c, &rig.by, other[1].claim);
	assert_false(mine.claim->is_over);
	assert_int_equal(cache_end_claim(rig.c, &rig.by, mine.claim, 0), 1u << 3 | 1u << 5);
	assert_true(other[0].claim->is_over);
	cache_leave_claim(rig.c, &rig.by, other[0].claim);
	/* The response to the next one is not stored: for a second no request waits. */
	mine = claim(1, 1);
	assert_true(mine.is_mine);
	assert_int_equal(cache_end_claim(rig.c, &rig.by, mine.claim, 1), 0);
	rig.by.now_ms += 999;
	assert_null(claim(0, 1).claim);
	rig.by.now_ms++;
	mine = claim(1, 1);
	assert_true(mine.is_mine);
	assert_true(rig_put(&rig, &rig.by, 1, 1, 10, 100, 1000));
	/* The object has come. */
	none = claim(2, 1);
	assert_true(none.entry && !none.claim);
	cache_unref(rig.c, &rig.by, none.entry);
	assert_int_equal(cache_end_claim(rig.c, &rig.by, mine.claim, 0), 0);
	rig_end(&rig);
}

/* Requests that come later do not wait for a slow holder. */
static void
a_claim_has_its_time(void **state)
{
	struct cache_claimed mine, other, late;

	(void)state;
	rig_start(&rig, 1, 5000);
	mine = claim(0, 1);
	assert_true(mine.is_mine);
	rig.by.now_ms += 499;
	other = claim(1, 1);
	assert_true(other.claim == mine.claim && !other.is_mine);
	rig.by.now_ms++;
	late = claim(2, 1);
	assert_true(!late.claim && !late.entry && !late.is_mine);
	assert_int_equal(cache_end_claim(rig.c, &rig.by, mine.claim, 0), 1u << 1);
	cache_leave_claim(rig.c, &rig.by, other.claim);
	mine = claim(2, 1);
	assert_true(mine.is_mine);
	assert_int_equal(cache_end_claim(rig.c, &rig.by, mine.claim, 0), 0);
	rig_end(&rig);
}

static void
blocks_in_use_are_not_taken(void **state)
{
	struct cache_entry *held[300];
	unsigned int n = 0;
	char text[64];

	(void)state;
	rig_start(&rig, 1, 5000);
	while (n < ARRAY_LEN(held) && rig_put(&rig, &rig.by, n, n, 10, 4900, 1000)) {
		held[n] = cache_find(rig.c, &rig.by, rig_key(n, text), &rig_all);
		assert_non_null(held[n]);
		n++;
	}
	assert_true(n > 190 && n < 210);
	for (unsigned int i = 0; i < n; i++) {
		struct cache_place at;
		char head[10];

		cache_read_head(rig.c, held[i], head, &at);
		assert_true(rig_is((struct str){ head, 10 }, i, i, 0));
		for (size_t pos = 0; pos < 4900;) {
			struct str s = cache_read(rig.c, &at, 4900 - pos);

			assert_true(rig_is(s, i, i, 10 + pos));
			pos += s.len;
		}
		cache_unref(rig.c, &rig.by, held[i]);
	}
	/* The first one gave its place when the last one was tried. */
	assert_true(rig_put(&rig, &rig.by, n, n, 10, 4900, 1000));
	rig_end(&rig);
}

static void
all_objects_are_shown(void **state)
{
	struct cache_shown shown[7];
	struct cache_walked at = { 0, 0 };
	unsigned int n = 0;

	(void)state;
	rig_start(&rig, 1, 5000);
	for (unsigned int i = 0; i < 20; i++)
		assert_true(rig_put(&rig, &rig.by, i, 1, 10, 990, 5000));
	rig.by.now_ms += 6000;
	do {
		unsigned int got = cache_walk(rig.c, &rig.by, &at, shown, ARRAY_LEN(shown));

		for (unsigned int i = 0; i < got; i++) {
			assert_int_equal(shown[i].blocks, 2);
			assert_int_equal(shown[i].refs, 0);
			assert_int_equal(shown[i].expires_ms, -1000);
		}
		n += got;
	} while (at.chains || at.objects);
	assert_int_equal(n, 20);
	rig_end(&rig);
}

/* The variants of a key stand in one chain, which several steps show. */
static void
all_variants_are_shown(void **state)
{
	struct cache_shown shown[7];
	struct cache_walked at = { 0, 0 };
	unsigned int n = 0, seen = 0;

	(void)state;
	rig_start(&rig, 1, 5000);
	rig.c->conf.variants_max = 20;
	for (uint32_t i = 0; i < 20; i++) {
		const struct cache_variant v = by_codings(1u << i);

		assert_true(put_variant(&v, i));
	}
	do {
		unsigned int got = cache_walk(rig.c, &rig.by, &at, shown, ARRAY_LEN(shown));

		for (unsigned int i = 0; i < got; i++)
			seen |= shown[i].codings;
		n += got;
	} while (at.chains || at.objects);
	assert_int_equal(n, 20);
	assert_int_equal(seen, (1u << 20) - 1);
	rig_end(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_those_of_the_model),
		cmocka_unit_test(bounds_are_kept),
		cmocka_unit_test(variants_are_selected),
		cmocka_unit_test(variants_are_removed_together),
		cmocka_unit_test(one_claims_a_key),
		cmocka_unit_test(a_claim_has_its_time),
		cmocka_unit_test(blocks_in_use_are_not_taken),
		cmocka_unit_test(all_objects_are_shown),
		cmocka_unit_test(all_variants_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
