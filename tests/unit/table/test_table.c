/* Tables: what is found, expires and is purged; the index as it grows; memory; values. */

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/sys.h"
#include "table/table.h"
#include "unit/test.h"

static struct sys sys;
static struct table_caller by = { .sys = &sys };

static struct table *
make(enum table_type type, uint32_t key_len, uint32_t size, uint32_t expire_ms)
{
	struct table_conf c = { .type = type, .key_len = key_len, .size = size,
		.expire_ms = expire_ms, .brates_factor = 1 };
	struct table *t;

	sys_init(&sys, &sys_linux, NULL);
	by.now_ms = 1000000;
	c.store[TABLE_GPC0].n = 1;
	c.store[TABLE_BYTES_IN_CNT].n = 1;
	c.store[TABLE_SERVER_KEY].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 10000;
	c.store[TABLE_CONN_CUR].n = 1;
	t = table_new("t", &c, &keyhash_known);
	assert_non_null(t);
	return t;
}

static struct table *
make_int(uint32_t size, uint32_t expire_ms)
{
	return make(TABLE_INTEGER, 4, size, expire_ms);
}

/* The entry of a number is made or touched; returns whether there is one. */
static int
touch(struct table *t, uint32_t v)
{
	struct table_key k;
	struct table_entry *e;

	assert_int_equal(table_key_int(t, &k, v), 0);
	e = table_get(t, &k, &by);
	if (e)
		table_unref(e);
	return e != NULL;
}

static struct table_entry *
hold(struct table *t, uint32_t v)
{
	struct table_key k;

	assert_int_equal(table_key_int(t, &k, v), 0);
	return table_get(t, &k, &by);
}

static int
has(struct table *t, uint32_t v)
{
	struct table_key k;
	struct table_entry *e;

	assert_int_equal(table_key_int(t, &k, v), 0);
	e = table_find(t, &k, &by);
	if (e)
		table_unref(e);
	return e != NULL;
}

static uint64_t
read_of(struct table *t, struct table_entry *e, enum table_data type)
{
	uint64_t v = 0;

	assert_int_equal(table_read(t, e, type, 0, &by, &v), 0);
	return v;
}

static void
finds_what_was_made(void **st)
{
	struct table *t = make_int(100000, 0);

	(void)st;
	assert_false(has(t, 0));
	for (uint32_t i = 0; i < 100000; i++) {
		assert_true(touch(t, i));
		assert_true(has(t, i / 2));
	}
	assert_int_equal(table_used(t), 100000);
	assert_int_equal(table_avail(t), 0);
	for (uint32_t i = 0; i < 100000; i++)
		assert_true(has(t, i));
	assert_false(has(t, 100000));
	table_free(t);
}

static void
a_full_table_replaces_what_was_touched_longest_ago(void **st)
{
	struct table *t = make_int(3, 0);

	(void)st;
	for (uint32_t i = 1; i <= 3; i++)
		assert_true(touch(t, i));
	assert_true(touch(t, 1));
	assert_true(touch(t, 4));
	assert_true(has(t, 1) && !has(t, 2) && has(t, 3) && has(t, 4));
	assert_int_equal(table_used(t), 3);
	table_free(t);
}

/* Sizes at which the number of shards changes, and those beside them. */
static void
sizes_are_exact(void **st)
{
	static const uint32_t sizes[] = { 1, 2, 63, 64, 65, 127, 128, 129, 5000, 65536 };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
		struct table *t = make_int(sizes[i], 0);

		for (uint32_t v = 0; v < sizes[i] * 3; v++) {
			assert_true(touch(t, v));
			assert_int_equal(table_used(t), MIN(v + 1, sizes[i]));
		}
		table_free(t);
	}
}

static void
nopurge_refuses(void **st)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 1000, .nopurge = 1,
		.expire_ms = 1000, .brates_factor = 1 };
	struct table *t = table_new("t", &c, &keyhash_known);
	unsigned int made = 0;

	(void)st;
	for (uint32_t i = 0; i < 2000; i++)
		made += (unsigned int)touch(t, i);
	assert_int_equal(made, 1000);
	assert_true(has(t, 0) && has(t, 999) && !has(t, 1000));
	/* Entries that have expired are replaced all the same. */
	by.now_ms += 1000;
	assert_true(touch(t, 5000));
	table_free(t);
}

static void
used_entries_stay(void **st)
{
	struct table *t = make_int(2, 1000);
	struct table_entry *a, *b;

	(void)st;
	a = hold(t, 1);
	b = hold(t, 2);
	assert_false(touch(t, 3));
	by.now_ms += 5000;
	assert_true(has(t, 1));
	assert_int_equal(table_remove(t, hold(t, 1), &by), -1);
	assert_int_equal(table_refs(a), 0);
	table_unref(b);
	assert_false(has(t, 2));
	assert_true(touch(t, 3));
	assert_int_equal(table_remove(t, a, &by), 0);
	assert_false(has(t, 1));
	assert_int_equal(table_used(t), 1);
	table_free(t);
}

static void
entries_expire(void **st)
{
	struct table *t = make_int(1000, 1000);
	struct table_entry *e;

	(void)st;
	for (uint32_t i = 0; i < 100; i++)
		assert_true(touch(t, i));
	assert_int_equal(table_sweep(t, &by, 1000), 1000);
	by.now_ms += 600;
	e = hold(t, 7);
	assert_int_equal(table_expires_in(t, e, &by), 1000);
	assert_int_equal(table_add(t, e, TABLE_GPC0, 0, &by, 3), 0);
	table_unref(e);
	by.now_ms += 400;
	assert_true(!has(t, 8) && has(t, 7));
	while (!table_sweep(t, &by, 10))
		;
	assert_int_equal(table_used(t), 1);
	assert_int_equal(table_sweep(t, &by, 10), 600);
	by.now_ms += 600;
	/* A new one has no values of the entry before. */
	e = hold(t, 7);
	assert_int_equal(read_of(t, e, TABLE_GPC0), 0);
	table_unref(e);
	table_free(t);
}

/* Entries that are in use for longer than they live, more of them in each shard than are examined
 * at once: behind them others expire all the same. */
static void
entries_behind_those_in_use_expire(void **st)
{
	struct table *t = make_int(1000, 1000);
	struct table_entry *held[500];

	(void)st;
	for (uint32_t i = 0; i < ARRAY_LEN(held); i++)
		held[i] = hold(t, i);
	for (uint32_t i = 1000; i < 1100; i++)
		assert_true(touch(t, i));
	by.now_ms += 1000;
	for (unsigned int i = 0; i < 600 / 5 + 8; i++)
		(void)table_sweep(t, &by, 5);
	assert_int_equal(table_used(t), ARRAY_LEN(held));
	for (unsigned int i = 0; i < ARRAY_LEN(held); i++)
		table_unref(held[i]);
	/* Entries in use are examined again later. */
	while (!table_sweep(t, &by, 5))
		;
	assert_int_equal(table_used(t), 0);
	table_free(t);
}

/* The clock has 64 bits, an entry the lower half of it. */
static void
the_low_half_of_the_clock_may_wrap(void **st)
{
	struct table *t = make_int(10, 1000);

	(void)st;
	by.now_ms = UINT64_C(0x1fffffe00);
	assert_true(touch(t, 1));
	by.now_ms += 999;
	assert_true(has(t, 1));
	by.now_ms += 1;
	assert_false(has(t, 1));
	table_free(t);
}

/* One worker touches it, another one, whose clock is behind, looks it up. */
static void
the_longest_expiry_is_seen_by_a_clock_behind(void **st)
{
	struct table *t = make_int(10, INT32_MAX);

	(void)st;
	by.now_ms = UINT64_C(0x1fffffe00);
	assert_true(touch(t, 1));
	by.now_ms -= 20;
	assert_true(has(t, 1));
	by.now_ms += UINT64_C(19) + INT32_MAX;
	assert_true(has(t, 1));
	by.now_ms += 1;
	assert_false(has(t, 1));
	by.now_ms += 86400000;
	assert_false(has(t, 1));
	table_free(t);
}

/* A rate that has counted nothing has begun at no time, and not soon, when the clock wraps. */
static void
a_new_rate_begins_before_the_clock_wraps(void **st)
{
	struct table *t = make_int(10, 0);
	struct table_entry *e;

	(void)st;
	by.now_ms = UINT64_C(0x1ffffffff) - 50000;
	e = hold(t, 1);
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 0);
	table_add(t, e, TABLE_HTTP_REQ_RATE, 0, &by, 100);
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 100);
	by.now_ms += 15000;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 50);
	by.now_ms += 5000;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 0);
	table_unref(e);
	table_free(t);
}

static void
an_entry_with_a_rate_takes_48_bytes(void **st)
{
	struct table_conf c = { .type = TABLE_IPV4, .key_len = 4, .size = 1u << 20,
		.expire_ms = 60000, .brates_factor = 1 };
	struct table *t;
	struct table_key k;

	(void)st;
	c.store[TABLE_HTTP_REQ_RATE].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 10000;
	t = table_new("t", &c, &keyhash_known);
	assert_true(table_bytes(t) < 16384);
	for (uint32_t i = 0; i < c.size; i++) {
		struct in_addr a = { .s_addr = i * 2654435761u };
		struct table_entry *e;

		assert_int_equal(table_key_ipv4(t, &k, a), 0);
		e = table_get(t, &k, &by);
		assert_non_null(e);
		table_unref(e);
	}
	assert_int_equal(table_used(t), c.size);
	assert_true(table_bytes(t) <= (size_t)48 * c.size);
	printf("%.1f bytes an entry\n", (double)table_bytes(t) / c.size);
	table_free(t);
}

/* The rate of n events at `at`, read `after` later, for a period of 10 s. */
static void
rates_are_those_of_haproxy(void **st)
{
	struct table *t = make_int(10, 0);
	struct table_entry *e = hold(t, 1);

	(void)st;
	table_add(t, e, TABLE_HTTP_REQ_RATE, 0, &by, 100);
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 100);
	by.now_ms += 9999;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 100);
	by.now_ms += 5001;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 50);
	table_add(t, e, TABLE_HTTP_REQ_RATE, 0, &by, 10);
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 60);
	by.now_ms += 5000;
	/* The period began 10 s after the first one. */
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 10);
	by.now_ms += 10000;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 0);
	table_add(t, e, TABLE_HTTP_REQ_RATE, 0, &by, 1);
	by.now_ms += 19999;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 1);
	by.now_ms += 1;
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 0);
	table_set(t, e, TABLE_HTTP_REQ_RATE, 0, &by, 7);
	assert_int_equal(read_of(t, e, TABLE_HTTP_REQ_RATE), 7);
	table_unref(e);
	table_free(t);
}

static void
values_are_read_and_changed(void **st)
{
	struct table *t = make_int(10, 0);
	struct table_entry *e = hold(t, 1);
	uint64_t v = 0;

	(void)st;
	assert_int_equal(table_add(t, e, TABLE_GPC1, 0, &by, 1), -1);
	assert_int_equal(table_read(t, e, TABLE_GPC1, 0, &by, &v), -1);
	assert_int_equal(table_inc_gpc(t, e, 1, &by, 1, &v), -1);
	assert_int_equal(table_inc_gpc(t, e, 0, &by, 5, &v), 0);
	assert_int_equal(v, 5);
	assert_int_equal(table_reset(t, e, TABLE_GPC0, 0, &by, &v), 0);
	assert_int_equal(v, 5);
	assert_int_equal(read_of(t, e, TABLE_GPC0), 0);
	table_add(t, e, TABLE_BYTES_IN_CNT, 0, &by, UINT64_C(1) << 40);
	assert_int_equal(read_of(t, e, TABLE_BYTES_IN_CNT), UINT64_C(1) << 40);
	assert_int_equal(table_less(t, e, TABLE_CONN_CUR), 0);
	assert_int_equal(read_of(t, e, TABLE_CONN_CUR), 0);
	assert_null(table_server_key(t, e));
	for (int i = 0; i < 3000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "s%d", i % 2000);
		assert_int_equal(table_set_server_key(t, e, name, &by), 0);
		assert_string_equal(table_server_key(t, e), name);
	}
	table_unref(e);
	table_free(t);
}

/* brates-factor divides rates of bytes, rounded up, and no counters. */
static void
rates_of_bytes_are_divided(void **st)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 10,
		.brates_factor = 4 };
	struct table *t;
	struct table_entry *e;

	(void)st;
	c.store[TABLE_BYTES_IN_CNT].n = c.store[TABLE_BYTES_IN_RATE].n = 1;
	c.store[TABLE_BYTES_IN_RATE].period_ms = 1000;
	t = table_new("t", &c, &keyhash_known);
	e = hold(t, 1);
	assert_int_equal(table_add(t, e, TABLE_BYTES_IN_CNT, 0, &by, 10), 0);
	assert_int_equal(table_add(t, e, TABLE_BYTES_IN_RATE, 0, &by, 10), 0);
	assert_int_equal(read_of(t, e, TABLE_BYTES_IN_CNT), 10);
	assert_int_equal(read_of(t, e, TABLE_BYTES_IN_RATE), 3);
	table_unref(e);
	table_free(t);
}

/* gpc(1) and gpc1 of one table are no pair, and neither are their rates. */
static void
elements_are_not_numbered_counters(void **st)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 10,
		.brates_factor = 1 };
	struct table *t;
	struct table_entry *e;
	uint64_t v = 0;

	(void)st;
	c.store[TABLE_GPC].n = 2;
	c.store[TABLE_GPC1_RATE].n = 1;
	c.store[TABLE_GPC1_RATE].period_ms = 1000;
	t = table_new("t", &c, &keyhash_known);
	e = hold(t, 1);
	assert_int_equal(table_inc_element(t, e, 1, &by, 3, &v), 0);
	assert_int_equal(v, 3);
	assert_int_equal(read_of(t, e, TABLE_GPC1_RATE), 0);
	assert_int_equal(table_inc_gpc(t, e, 1, &by, 1, &v), 0);
	assert_int_equal(v, 4);
	assert_int_equal(read_of(t, e, TABLE_GPC1_RATE), 1);
	table_unref(e);
	table_free(t);
}

static void
arrays_stand_for_numbered_counters(void **st)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 10,
		.brates_factor = 1 };
	struct table *t;
	struct table_entry *e;
	uint64_t v = 0;

	(void)st;
	c.store[TABLE_GPC].n = 2;
	c.store[TABLE_GPT].n = 1;
	c.store[TABLE_GPC_RATE].n = 3;
	c.store[TABLE_GPC_RATE].period_ms = 1000;
	t = table_new("t", &c, &keyhash_known);
	e = hold(t, 1);
	assert_int_equal(table_set(t, e, TABLE_GPC, 1, &by, 9), 0);
	assert_int_equal(read_of(t, e, TABLE_GPC1), 9);
	assert_int_equal(table_inc_gpc(t, e, 1, &by, 1, &v), 0);
	assert_int_equal(v, 10);
	assert_int_equal(read_of(t, e, TABLE_GPC1_RATE), 1);
	assert_int_equal(table_inc_element(t, e, 2, &by, 4, &v), 0);
	assert_int_equal(v, 4);
	assert_int_equal(table_inc_element(t, e, 3, &by, 4, &v), -1);
	assert_int_equal(table_read(t, e, TABLE_GPT0, 0, &by, &v), 0);
	assert_int_equal(table_read(t, e, TABLE_GPT, 1, &by, &v), -1);
	table_unref(e);
	table_free(t);
}

static int
has_text(struct table *t, const char *text, size_t n)
{
	struct table_key k;
	struct table_entry *e;

	assert_int_equal(table_key_bytes(t, &k, text, n), 0);
	e = table_find(t, &k, &by);
	if (e)
		table_unref(e);
	return e != NULL;
}

static void
keys_are_cut_and_filled(void **st)
{
	struct table *s = make(TABLE_STRING, 4, 10, 0), *b = make(TABLE_BINARY, 4, 10, 0);
	struct table_key k;

	(void)st;
	assert_int_equal(table_key_int(s, &k, 1), -1);
	table_key_bytes(s, &k, "abcdef", 6);
	table_unref(table_get(s, &k, &by));
	table_key_bytes(s, &k, "x\0y", 3);
	table_unref(table_get(s, &k, &by));
	assert_true(has_text(s, "abcd", 4) && has_text(s, "abcdxyz", 7) && has_text(s, "x", 1));
	assert_false(has_text(s, "abc", 3) || has_text(s, "", 0));
	table_key_bytes(b, &k, "x\0y", 3);
	table_unref(table_get(b, &k, &by));
	assert_true(has_text(b, "x\0y\0", 4) && has_text(b, "x\0y\0z", 5));
	assert_false(has_text(b, "x", 1) || has_text(b, "x\0y\0z", 2));
	table_free(s);
	table_free(b);
}

static void
a_walk_sees_all(void **st)
{
	struct table *t = make_int(10000, 1000);
	struct table_walk w = { 0 };
	struct table_entry *e;
	uint64_t sum = 0;
	unsigned int n = 0, most = UINT_MAX;

	(void)st;
	for (uint32_t i = 0; i < 10000; i++)
		assert_true(touch(t, i));
	while ((e = table_walk(t, &w, &most, &by)) != NULL) {
		uint32_t v;

		memcpy(&v, table_entry_key(t, e), sizeof(v));
		sum += v;
		n++;
		assert_int_equal(table_refs(e), 0);
		if (v % 2)
			assert_int_equal(table_remove(t, e, &by), 0);
		else
			table_unref(e);
	}
	assert_int_equal(n, 10000);
	assert_int_equal(sum, UINT64_C(10000) * 9999 / 2);
	assert_int_equal(table_used(t), 5000);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(has(t, i), i % 2 == 0);
	table_free(t);
}

/* Two entries are left of many: each step examines 100 slots, or ends. */
static void
a_walk_examines_a_bounded_number_of_slots(void **st)
{
	struct table *t = make_int(10000, 1000);
	struct table_walk w = { 0 };
	unsigned int found = 0, steps = 0, most = 0;

	(void)st;
	for (uint32_t i = 0; i < 10000; i++)
		assert_true(touch(t, i));
	by.now_ms += 500;
	assert_true(touch(t, 10) && touch(t, 9999));
	by.now_ms += 500;
	while (!table_sweep(t, &by, 1000))
		;
	assert_int_equal(table_used(t), 2);
	while (!most) {
		struct table_entry *e;

		most = 100;
		while ((e = table_walk(t, &w, &most, &by)) != NULL) {
			table_unref(e);
			found++;
		}
		assert_true(most <= 100);
		steps++;
	}
	assert_int_equal(found, 2);
	assert_in_range(steps, 100, 101);
	table_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_made),
		cmocka_unit_test(a_full_table_replaces_what_was_touched_longest_ago),
		cmocka_unit_test(sizes_are_exact),
		cmocka_unit_test(nopurge_refuses),
		cmocka_unit_test(used_entries_stay),
		cmocka_unit_test(entries_expire),
		cmocka_unit_test(entries_behind_those_in_use_expire),
		cmocka_unit_test(the_low_half_of_the_clock_may_wrap),
		cmocka_unit_test(the_longest_expiry_is_seen_by_a_clock_behind),
		cmocka_unit_test(a_new_rate_begins_before_the_clock_wraps),
		cmocka_unit_test(an_entry_with_a_rate_takes_48_bytes),
		cmocka_unit_test(rates_are_those_of_haproxy),
		cmocka_unit_test(values_are_read_and_changed),
		cmocka_unit_test(arrays_stand_for_numbered_counters),
		cmocka_unit_test(elements_are_not_numbered_counters),
		cmocka_unit_test(rates_of_bytes_are_divided),
		cmocka_unit_test(keys_are_cut_and_filled),
		cmocka_unit_test(a_walk_sees_all),
		cmocka_unit_test(a_walk_examines_a_bounded_number_of_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
