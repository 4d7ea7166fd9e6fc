#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rule/match/pattern.c"
#include "unit/test.h"

enum { MANY = 20000 };

static struct pattern *
make(const char *key)
{
	size_t len = strlen(key);
	struct pattern *t = calloc(1, sizeof(*t) + len);

	assert_non_null(t);
	memcpy(t + 1, key, len);
	t->key_at = sizeof(*t);
	t->key_len = (uint16_t)len;
	return t;
}

static uint32_t
upper(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

static void
add(struct pattern_index *x, struct pattern *t, uint64_t hash, size_t len)
{
	t->hash = upper(hash);
	assert_int_equal(pattern_index_add(x, t, len), 0);
}

/* The same key with another hash. */
static struct pattern *
find_hashed(const struct pattern_index *x, const struct pattern *t, uint64_t hash)
{
	return pattern_index_find(x, upper(hash), pattern_key(t).p, pattern_key(t).len);
}

static uint64_t
hash_of(const char *key)
{
	return keyhash(&keyhash_known, key, strlen(key));
}

static struct pattern *
find(const struct pattern_index *x, const char *key)
{
	return pattern_index_find(x, upper(hash_of(key)), key, strlen(key));
}

static void
an_empty_index_finds_nothing(void **state)
{
	struct pattern_index x;

	(void)state;
	pattern_index_init(&x, 0, &keyhash_known);
	assert_null(find(&x, ""));
	assert_null(find(&x, "a"));
	assert_false(pattern_index_has_len(&x, 0));
	pattern_index_fini(&x);
}

static void
each_of_many_keys_is_found(void **state)
{
	static struct pattern *item[MANY];
	struct pattern_index x;
	char key[32];

	(void)state;
	pattern_index_init(&x, 0, &keyhash_known);
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		item[i] = make(key);
		add(&x, item[i], hash_of(key), strlen(key));
	}
	assert_int_equal(x.n, MANY);
	assert_true(x.cap >= 2 * x.n && (x.cap & (x.cap - 1)) == 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		assert_ptr_equal(find(&x, key), item[i]);
		snprintf(key, sizeof(key), "kez%d", i);
		assert_null(find(&x, key));
	}
	for (size_t len = 0; len < 20; len++)
		assert_int_equal(pattern_index_has_len(&x, len), len >= 4 && len <= 8);
	for (int i = 0; i < MANY; i++)
		free(item[i]);
	pattern_index_fini(&x);
}

/* Keys with the same hash are distinguished, wherever they are in the table. */
static void
equal_hashes_are_distinguished(void **state)
{
	static const uint64_t hashes[] = { 0, UINT64_C(15) << 60, UINT64_C(31) << 59,
		UINT64_MAX };
	struct pattern *item[10];
	struct pattern_index x;

	(void)state;
	for (size_t h = 0; h < ARRAY_LEN(hashes); h++) {
		pattern_index_init(&x, 0, &keyhash_known);
		for (int i = 0; i < 10; i++) {
			char key[2] = { (char)('a' + i), 0 };

			item[i] = make(key);
			add(&x, item[i], hashes[h], 1);
		}
		for (int i = 0; i < 10; i++)
			assert_ptr_equal(find_hashed(&x, item[i], hashes[h]), item[i]);
		assert_null(pattern_index_find(&x, upper(hashes[h]), "z", 1));
		for (int i = 0; i < 10; i++)
			free(item[i]);
		pattern_index_fini(&x);
	}
}

/* Keys are removed one by one, and after each removal all others are found. There are few hash
 * values, so that keys collide, also across the end of the table. */
static void
after_a_removal_the_others_are_found(void **state)
{
	enum { N = 40 };
	struct pattern *item[N], *heir = make("x");
	uint64_t hash[N];
	struct pattern_index x;

	(void)state;
	for (unsigned int seed = 1; seed < 20; seed++) {
		srand(seed);
		pattern_index_init(&x, 0, &keyhash_known);
		for (int i = 0; i < N; i++) {
			char key[2] = { (char)('0' + i), 0 };

			item[i] = make(key);
			hash[i] = (uint64_t)(rand() % 8 + 60) << 58;
			add(&x, item[i], hash[i], 1);
		}
		for (int left = N; left > 0; left--) {
			int out = rand() % left;

			pattern_index_replace(&x, item[out], NULL);
			free(item[out]);
			item[out] = item[left - 1];
			hash[out] = hash[left - 1];
			assert_int_equal(x.n, left - 1);
			for (int i = 0; i < left - 1; i++)
				assert_ptr_equal(find_hashed(&x, item[i], hash[i]), item[i]);
		}
		pattern_index_fini(&x);
	}
	pattern_index_init(&x, 0, &keyhash_known);
	item[0] = make("x");
	add(&x, item[0], UINT64_C(5) << 32, 1);
	heir->hash = item[0]->hash;
	pattern_index_replace(&x, item[0], heir);
	assert_ptr_equal(find_hashed(&x, heir, UINT64_C(5) << 32), heir);
	free(item[0]);
	free(heir);
	pattern_index_fini(&x);
}

/* Keys are added and removed while the table grows, with hashes that make long runs, also across
 * its end. */
static void
while_it_grows(void **state)
{
	enum { N = 600, STEPS = 3000 };
	static struct pattern *item[N], *in[N];
	static uint64_t hash[N];
	struct pattern_index x;
	char key[16];
	unsigned int growing = 0;

	(void)state;
	srand(11);
	pattern_index_init(&x, 0, &keyhash_known);
	for (int i = 0; i < N; i++) {
		snprintf(key, sizeof(key), "%d", i);
		item[i] = make(key);
		hash[i] = (uint64_t)rand() % 24 << 59 | (uint64_t)rand() % 64 << 48;
	}
	for (int step = 0; step < STEPS; step++) {
		int i = rand() % (1 + N * step / STEPS);
		uint32_t cap = x.cap;

		if (!in[i]) {
			in[i] = item[i];
			add(&x, in[i], hash[i], 1);
		} else if (rand() % 5 == 0) {
			pattern_index_replace(&x, in[i], NULL);
			in[i] = NULL;
		}
		growing += x.old && x.cap == cap;
		for (int k = 0; k < N; k++)
			assert_ptr_equal(find_hashed(&x, item[k], hash[k]), in[k]);
	}
	assert_true(growing > 20);
	for (int i = 0; i < N; i++) {
		if (in[i])
			pattern_index_replace(&x, in[i], NULL);
		free(item[i]);
	}
	assert_int_equal(x.n, 0);
	pattern_index_fini(&x);
}

/* Adding a key never moves many others. */
static void
growing_in_small_steps(void **state)
{
	static struct pattern *item[MANY];
	struct pattern_index x;
	uint32_t was, cap;
	char key[16];

	(void)state;
	pattern_index_init(&x, 0, &keyhash_known);
	for (int i = 0; i < MANY; i++) {
		was = x.moved;
		cap = x.cap;
		snprintf(key, sizeof(key), "%d", i);
		item[i] = make(key);
		add(&x, item[i], hash_of(key), 1);
		if (x.cap == cap)
			assert_true(x.moved - was < 64);
		else if (cap)
			assert_true(x.old ? x.moved < 64 : cap <= 4);
	}
	for (int i = 0; i < MANY; i++)
		free(item[i]);
	pattern_index_fini(&x);
}

/* The largest distance of a key from its slot. */
static uint32_t
farthest(const struct pattern_index *x)
{
	uint32_t most = 0;

	const uint8_t *tag = (const uint8_t *)(x->slot + x->cap);

	for (uint32_t at = 0; at < x->cap; at++)
		if (tag[at])
			most = MAX(most,
				(at - keyhash_slot((uint64_t)x->slot[at]->hash << 32, x->cap)) &
					(x->cap - 1));
	return most;
}

/* Keys chosen for one secret only make long runs under that secret. */
static void
chosen_keys_need_the_secret(void **state)
{
	enum { CHOSEN = 256 };
	static const uint64_t bits[2] = { 20261122, 7 };
	struct keyhash other;
	struct pattern_index x, y;
	struct pattern *item[CHOSEN], *beside[CHOSEN];
	char key[32];
	int n = 0;

	(void)state;
	keyhash_init(&other, bits);
	pattern_index_init(&x, 0, &keyhash_known);
	pattern_index_init(&y, 0, &other);
	for (int i = 0; n < CHOSEN; i++) {
		size_t len = (size_t)snprintf(key, sizeof(key), "key%d", i);
		uint64_t hash = keyhash(&x.key, key, len);

		if (keyhash_slot(hash, 2 * CHOSEN) != 9)
			continue;
		item[n] = make(key);
		beside[n] = make(key);
		add(&x, item[n], hash, len);
		add(&y, beside[n], keyhash(&other, key, len), len);
		n++;
	}
	assert_int_equal(farthest(&x), CHOSEN - 1);
	assert_true(farthest(&y) < 32);
	for (int i = 0; i < n; i++) {
		struct str s = pattern_key(item[i]);

		assert_ptr_equal(find_hashed(&x, item[i], keyhash(&x.key, s.p, s.len)), item[i]);
		assert_ptr_equal(find_hashed(&y, item[i], keyhash(&y.key, s.p, s.len)), beside[i]);
		assert_null(find_hashed(&y, item[i], keyhash(&x.key, s.p, s.len)));
	}
	pattern_index_fini(&x);
	pattern_index_fini(&y);
	for (int i = 0; i < n; i++) {
		free(item[i]);
		free(beside[i]);
	}
}

/* After a reservation an entry is added without an allocation. */
static void
a_reserved_entry_needs_no_allocation(void **state)
{
	struct pattern_index x;
	uint32_t cap;

	(void)state;
	pattern_index_init(&x, 0, &keyhash_known);
	assert_int_equal(pattern_index_reserve(&x, 1000, 300), 0);
	cap = x.cap;
	assert_true(cap >= 2000 && x.len_words * 64 > 300);
	assert_int_equal(pattern_index_reserve(&x, 10, 3), 0);
	assert_int_equal(x.cap, cap);
	assert_false(pattern_index_has_len(&x, 300));
	pattern_index_fini(&x);
}

static void
a_folded_index_ignores_case(void **state)
{
	struct pattern *t = make("host");
	struct pattern_index x;

	(void)state;
	pattern_index_init(&x, 1, &keyhash_known);
	add(&x, t, hash_of("host"), 4);
	assert_ptr_equal(pattern_index_find(&x, upper(hash_of("host")), "HoSt", 4), t);
	assert_null(pattern_index_find(&x, upper(hash_of("host")), "HoS\x14", 4));
	for (int c = 0; c < 256; c++)
		assert_int_equal(pattern_fold((unsigned char)c),
			c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
	pattern_index_fini(&x);
	free(t);
}

static void
lengths_of_keys_are_known(void **state)
{
	struct pattern *t = make("x");
	struct pattern_index x;

	(void)state;
	pattern_index_init(&x, 0, &keyhash_known);
	add(&x, t, 1, 65535);
	assert_int_equal(x.len_max, 65535);
	assert_true(pattern_index_has_len(&x, 65535));
	assert_false(pattern_index_has_len(&x, 65536));
	assert_false(pattern_index_has_len(&x, 65534));
	pattern_index_fini(&x);
	free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_index_finds_nothing),
		cmocka_unit_test(each_of_many_keys_is_found),
		cmocka_unit_test(equal_hashes_are_distinguished),
		cmocka_unit_test(after_a_removal_the_others_are_found),
		cmocka_unit_test(while_it_grows),
		cmocka_unit_test(growing_in_small_steps),
		cmocka_unit_test(chosen_keys_need_the_secret),
		cmocka_unit_test(a_reserved_entry_needs_no_allocation),
		cmocka_unit_test(a_folded_index_ignores_case),
		cmocka_unit_test(lengths_of_keys_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
