/* Tables with several threads: totals are exact, the size is kept, nothing is lost. */

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/sys.h"
#include "base/thread.h"
#include "table/table.h"
#include "table/table_log.h"
#include "table/table_wire.h"
#include "unit/test.h"

enum { THREADS = 4, ADDS = 1000000, LOGGED = 1000 };

struct worker {
	struct thread thread;
	struct sys sys;
	struct table *t;
	unsigned int number, keys, adds;
	uint32_t seed;
	int removes;            /* it removes entries and sweeps, too */
};

/* Calls of count_one() in all threads. */
static unsigned int
all_adds(void)
{
	return ADDS / test_every();
}

static struct table *
make_table(uint32_t size, uint32_t expire_ms)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = size,
		.expire_ms = expire_ms, .brates_factor = 1 };
	struct table *t;

	c.store[TABLE_GPC0].n = 1;
	c.store[TABLE_CONN_CUR].n = 1;
	c.store[TABLE_BYTES_IN_CNT].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 10;
	t = table_new("t", &c, &keyhash_known);
	assert_non_null(t);
	return t;
}

static uint32_t
next_key(struct worker *w)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return (w->seed >> 8) % w->keys;
}

/* A request: its key is tracked, counted and released. The clock advances. */
static void
count_one(struct worker *w, unsigned int i)
{
	struct table_caller by = { .sys = &w->sys, .now_ms = 1000 + i / 64 };
	struct table_entry *e;
	struct table_key k;

	(void)table_key_int(w->t, &k, next_key(w));
	e = table_get(w->t, &k, &by);
	if (!e)
		return;
	(void)table_add(w->t, e, TABLE_CONN_CUR, 0, &by, 1);
	(void)table_add(w->t, e, TABLE_GPC0, 0, &by, 1);
	(void)table_add(w->t, e, TABLE_BYTES_IN_CNT, 0, &by, UINT64_C(1) << 33);
	(void)table_add(w->t, e, TABLE_HTTP_REQ_RATE, 0, &by, 1);
	(void)table_less(w->t, e, TABLE_CONN_CUR);
	if (w->removes && i % 5 == 0) {
		(void)table_remove(w->t, e, &by);
		return;
	}
	table_touch(w->t, e, &by);
	table_unref(e);
	if (w->removes && i % 100 == 0 && w->number == 0)
		(void)table_sweep(w->t, &by, 16);
}

static void
count_all(void *arg)
{
	struct worker *w = arg;

	for (unsigned int i = 0; i < w->adds; i++)
		count_one(w, i);
}

static void
run_workers(struct table *t, unsigned int keys, unsigned int adds, int removes)
{
	static struct worker w[THREADS];

	memset(w, 0, sizeof(w));
	for (unsigned int i = 0; i < THREADS; i++) {
		sys_init(&w[i].sys, &sys_linux, NULL);
		w[i].t = t;
		w[i].number = i;
		w[i].keys = keys;
		w[i].adds = adds / THREADS;
		w[i].seed = i;
		w[i].removes = removes;
		assert_int_equal(thread_start(&w[i].thread, count_all, &w[i], NULL), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(thread_join(&w[i].thread), 0);
}

/* The sums over all entries, which have no references any more. */
static unsigned int
sum_table(struct table *t, uint64_t *gpc0, uint64_t *bytes)
{
	struct table_walk walk = { 0 };
	unsigned int most = UINT_MAX;
	struct table_entry *e;
	struct sys sys;
	struct table_caller by = { .sys = &sys, .now_ms = 1000 };
	unsigned int n = 0;
	uint64_t v = 0;

	sys_init(&sys, &sys_linux, NULL);
	*gpc0 = *bytes = 0;
	for (; (e = table_walk(t, &walk, &most, &by)) != NULL; n++) {
		assert_int_equal(table_refs(e), 0);
		(void)table_read(t, e, TABLE_CONN_CUR, 0, &by, &v);
		assert_int_equal(v, 0);
		(void)table_read(t, e, TABLE_GPC0, 0, &by, &v);
		*gpc0 += v;
		(void)table_read(t, e, TABLE_BYTES_IN_CNT, 0, &by, &v);
		*bytes += v;
		table_unref(e);
	}
	return n;
}

/* There are as many keys as the table has room for, so nothing may be replaced. */
static void
totals_are_exact(void **st)
{
	static const unsigned int keys[] = { 1, 10000 };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(keys); i++) {
		struct table *t = make_table(10000, 0);
		uint64_t gpc0, bytes;

		run_workers(t, keys[i], all_adds(), 0);
		assert_int_equal(sum_table(t, &gpc0, &bytes), keys[i]);
		assert_int_equal(table_used(t), keys[i]);
		assert_int_equal(gpc0, all_adds());
		assert_int_equal(bytes, (uint64_t)all_adds() << 33);
		table_free(t);
	}
}

/* More keys than there is room for, entries that expire and are removed. */
static void
the_size_is_kept(void **st)
{
	static const uint32_t sizes[] = { 1, 3, 100, 1000 };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
		struct table *t = make_table(sizes[i], 100);
		uint64_t gpc0, bytes;

		run_workers(t, 3000, all_adds() / 10, 1);
		assert_true(table_used(t) <= sizes[i]);
		assert_int_equal(sum_table(t, &gpc0, &bytes), table_used(t));
		table_free(t);
	}
}

/* A reader of the log while others change the table: the last value that it has read of each. */
struct reader {
	struct thread thread;
	struct sys sys;
	struct table *t;
	_Atomic int ends;
	int learns;             /* a peer sends values, which replace changes */
	uint32_t turn;
	uint64_t next;
	uint64_t seen[LOGGED];
};

/* Reads all changes that there are. */
static void
read_changes(struct reader *r)
{
	struct table_caller by = { .sys = &r->sys, .now_ms = 1000 };

	while (table_log_collect(r->t, LOGGED / 2, &by))
		for (; r->next < table_log_end(r->t); r->next++) {
			struct table_entry *e = table_log_entry(r->t, r->next, &by);
			uint32_t key;

			/* A later change has a number of its own. */
			if (!e)
				continue;
			memcpy(&key, table_entry_key(r->t, e), sizeof(key));
			(void)table_read(r->t, e, TABLE_GPC0, 0, &by, &r->seen[key]);
			table_unref(e);
		}
}

/* A peer sends the values that an entry has. */
static void
learn_one(struct reader *r)
{
	struct table_caller by = { .sys = &r->sys, .now_ms = 1000, .is_peer = 1 };
	static struct table_wire_names names;
	struct table_wire_sent sent = { .turn = 0 };
	struct table_wire_def def;
	uint8_t bytes[256];
	struct wire_out w = { bytes, bytes + sizeof(bytes), 0 };
	struct wire_in in = { bytes, NULL, 0 };
	struct table_entry *e;
	struct table_key k;

	table_wire_put_def(r->t, 1, STR("t"), TABLE_DATA_TYPES - 1, &w);
	in.end = w.p;
	assert_int_equal(table_wire_take_def(&in, &def), 0);
	assert_int_equal(table_key_int(r->t, &k, r->turn++ % LOGGED), 0);
	e = table_find(r->t, &k, &by);
	if (!e)
		return;
	table_wire_put_entry(r->t, e, TABLE_DATA_TYPES - 1, &sent, &by, &w);
	table_unref(e);
	in.end = w.p;
	assert_int_equal(table_wire_learn(r->t, &def, &in, &names, 0, 0, &by), 0);
}

static void
read_all_changes(void *arg)
{
	struct reader *r = arg;

	while (!atomic_load(&r->ends)) {
		read_changes(r);
		for (int i = 0; r->learns && i < LOGGED / 4; i++)
			learn_one(r);
	}
}

/* Reads changes while `adds` are made. What a peer sends replaces none that is made later. */
static void
run_with_reader(struct reader *r, unsigned int adds, int learns)
{
	r->learns = learns;
	atomic_store(&r->ends, 0);
	assert_int_equal(thread_start(&r->thread, read_all_changes, r, NULL), 0);
	run_workers(r->t, LOGGED, adds, 0);
	atomic_store(&r->ends, 1);
	assert_int_equal(thread_join(&r->thread), 0);
}

/* No change is lost: the reader has seen the last value of each entry. learns: a peer has replaced
 * values before the last ones. */
static void
log_changes(int learns)
{
	static struct reader r;
	static _Atomic int news;
	struct table_caller by = { .sys = &r.sys, .now_ms = 1000 };
	struct table *t = make_table(LOGGED, 0);

	memset(&r, 0, sizeof(r));
	sys_init(&r.sys, &sys_linux, NULL);
	assert_int_equal(table_share(t, &news), 0);
	r.t = t;
	r.next = 1;
	run_with_reader(&r, all_adds(), learns);
	if (learns)
		run_with_reader(&r, all_adds() / 4, 0);
	read_changes(&r);
	for (uint32_t i = 0; i < LOGGED; i++) {
		struct table_key k;
		struct table_entry *e;
		uint64_t v = 0;

		assert_int_equal(table_key_int(t, &k, i), 0);
		e = table_find(t, &k, &by);
		assert_non_null(e);
		(void)table_read(t, e, TABLE_GPC0, 0, &by, &v);
		assert_int_equal(r.seen[i], v);
		table_unref(e);
	}
	assert_int_equal(news, 1);
	table_free(t);
}

static void
changes_are_logged(void **st)
{
	(void)st;
	log_changes(0);
}

static void
changes_are_logged_after_those_of_a_peer(void **st)
{
	(void)st;
	log_changes(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_exact),
		cmocka_unit_test(the_size_is_kept),
		cmocka_unit_test(changes_are_logged),
		cmocka_unit_test(changes_are_logged_after_those_of_a_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
