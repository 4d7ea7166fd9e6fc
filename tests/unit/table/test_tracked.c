/* Tracked entries: what is counted when one begins and ends, and its references. */
#include "base/keyhash.h"
#include "base/sys.h"
#include "table/tracked.h"
#include "unit/test.h"

static struct sys sys;
static struct table_caller by = { .sys = &sys, .now_ms = 1000 };

static struct table *
open_table(int with_rates)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 10,
		.expire_ms = 5000, .brates_factor = 1 };
	struct table *t;

	sys_init(&sys, &sys_linux, NULL);
	c.store[TABLE_CONN_CNT].n = c.store[TABLE_CONN_CUR].n = c.store[TABLE_HTTP_REQ_CNT].n = 1;
	if (with_rates) {
		c.store[TABLE_CONN_RATE] = c.store[TABLE_HTTP_REQ_RATE] =
			(struct table_store){ .n = 1, .period_ms = 10000 };
	}
	t = table_new("t", &c, &keyhash_known);
	assert_non_null(t);
	return t;
}

static struct table_entry *
entry(struct table *t, uint32_t key)
{
	struct table_entry *e;
	struct table_key k;

	assert_int_equal(table_key_int(t, &k, key), 0);
	e = table_get(t, &k, &by);
	assert_non_null(e);
	return e;
}

static uint64_t
value(struct table *t, enum table_data type)
{
	struct table_entry *e = entry(t, 1);
	uint64_t v = UINT64_MAX;

	(void)!table_read(t, e, type, 0, &by, &v);
	table_unref(e);
	return v;
}

static void
connections_are_counted(void **st)
{
	struct table *t = open_table(1);
	struct tracked a = { 0 }, b = { 0 };

	(void)st;
	by.now_ms = 1000;
	tracked_begin(&a, t, entry(t, 1), &by);
	tracked_begin(&b, t, entry(t, 1), &by);
	assert_int_equal(value(t, TABLE_CONN_CNT), 2);
	assert_int_equal(value(t, TABLE_CONN_RATE), 2);
	assert_int_equal(value(t, TABLE_CONN_CUR), 2);
	tracked_count(&a, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE, &by, 3);
	assert_int_equal(value(t, TABLE_HTTP_REQ_CNT), 3);
	assert_int_equal(value(t, TABLE_HTTP_REQ_RATE), 3);
	assert_int_equal(table_refs(a.entry), 1);
	tracked_end(&a, &by);
	tracked_end(&a, &by);
	assert_null(a.table);
	assert_int_equal(value(t, TABLE_CONN_CUR), 1);
	tracked_end(&b, &by);
	assert_int_equal(value(t, TABLE_CONN_CUR), 0);
	assert_int_equal(value(t, TABLE_CONN_CNT), 2);
	table_free(t);
}

/* An entry does not expire while it is tracked, and lives `expire` after it. */
static void
entries_stay_while_tracked(void **st)
{
	struct table *t = open_table(0);
	struct tracked a = { 0 };
	struct table_key k;

	(void)st;
	by.now_ms = 1000;
	assert_int_equal(table_key_int(t, &k, 1), 0);
	tracked_begin(&a, t, entry(t, 1), &by);
	by.now_ms = 60000;
	(void)table_sweep(t, &by, 100);
	assert_int_equal(table_used(t), 1);
	tracked_count(&a, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE, &by, 1);
	tracked_end(&a, &by);
	by.now_ms = 64000;
	assert_int_equal(value(t, TABLE_HTTP_REQ_CNT), 1);
	by.now_ms = 80000;
	assert_null(table_find(t, &k, &by));
	table_free(t);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_are_counted),
		cmocka_unit_test(entries_stay_while_tracked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
