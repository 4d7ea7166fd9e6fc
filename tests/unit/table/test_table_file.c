/* Entries of tables in a memory file, which the next process copies. */

#include <stdio.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/mem.h"
#include "table/table_file.h"
#include "table/table_follow.h"
#include "table/table_log.h"
#include "table/table_wire.h"
#include "unit/test.h"

static struct sys sys;
static struct table_caller by = { .sys = &sys, .now_ms = 5000000000u };

static struct table_conf
conf_of(enum table_type type, uint32_t key_len, uint32_t size, uint32_t expire_ms)
{
	struct table_conf c = { .type = type, .key_len = key_len, .size = size,
		.expire_ms = expire_ms, .brates_factor = 1 };

	c.store[TABLE_GPC0].n = 1;
	c.store[TABLE_CONN_CUR].n = 1;
	c.store[TABLE_SERVER_KEY].n = 1;
	c.store[TABLE_BYTES_IN_CNT].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 10000;
	return c;
}

static _Atomic int news;

/* A process: its table, in its file. */
struct side {
	struct table *t;
	struct memfile file;
	struct memfile_view view;
};

static void
start_side_with_peers(struct side *s, struct table_conf c, unsigned int peers, uint64_t names)
{
	memset(s, 0, sizeof(*s));
	sys_init(&sys, &sys_linux, NULL);
	s->t = table_new("t", &c, &keyhash_known);
	assert_non_null(s->t);
	if (peers) {
		assert_int_equal(table_share(s->t, &news), 0);
		assert_int_equal(table_aggregate(s->t, peers, names), 0);
	}
	assert_int_equal(memfile_create(&s->file, &sys, MEMFILE_HEAD + table_file_room(s->t),
				 table_file_layout(), 1), 0);
	assert_int_equal(table_file_place(s->t, &s->file), 0);
	assert_int_equal(memfile_seal(&s->file), 0);
}

static void
start_side(struct side *s, struct table_conf c)
{
	start_side_with_peers(s, c, 0, 0);
}

static void
view_side(struct side *s)
{
	const char *why = "";

	assert_int_equal(memfile_open(&s->view, &sys, s->file.fd, table_file_layout(), &why), 0);
}

static void
end_side(struct side *s)
{
	memfile_close(&s->view);
	memfile_free(&s->file);
	table_free(s->t);
}

static struct table_entry *
hold(struct table *t, uint32_t v)
{
	struct table_key k;

	assert_int_equal(table_key_int(t, &k, v), 0);
	return table_get(t, &k, &by);
}

static uint64_t
value(struct table *t, uint32_t v, enum table_data type)
{
	struct table_entry *e;
	struct table_key k;
	uint64_t n = 0;

	assert_int_equal(table_key_int(t, &k, v), 0);
	e = table_find(t, &k, &by);
	if (!e)
		return UINT64_MAX;
	assert_int_equal(table_read(t, e, type, 0, &by, &n), 0);
	table_unref(e);
	return n;
}

static void
add_to(struct table *t, uint32_t v, enum table_data type, uint64_t n)
{
	struct table_entry *e = hold(t, v);

	assert_int_equal(table_add(t, e, type, 0, &by, n), 0);
	table_unref(e);
}

static void
entries_are_copied(void **st)
{
	struct side a, b;
	struct table_entry *e;
	unsigned int n;

	(void)st;
	start_side(&a, conf_of(TABLE_INTEGER, 4, 5000, 60000));
	for (uint32_t i = 0; i < 5000; i++) {
		e = hold(a.t, i);
		table_set(a.t, e, TABLE_GPC0, 0, &by, i);
		table_add(a.t, e, TABLE_BYTES_IN_CNT, 0, &by, UINT64_C(5000000000));
		table_add(a.t, e, TABLE_HTTP_REQ_RATE, 0, &by, 3);
		assert_int_equal(table_set_server_key(a.t, e, i % 2 ? "odd" : "even", &by), 0);
		table_unref(e);
	}
	by.now_ms += 50000;
	e = hold(a.t, 77);
	table_unref(e);
	view_side(&a);
	by.now_ms += 5000;
	start_side(&b, conf_of(TABLE_INTEGER, 4, 5000, 60000));
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, NULL), TABLE_RESTORED);
	assert_int_equal(n, 5000);
	assert_int_equal(value(b.t, 4321, TABLE_GPC0), 4321);
	assert_int_equal(value(b.t, 4321, TABLE_BYTES_IN_CNT), UINT64_C(5000000000));
	e = hold(b.t, 0);
	assert_string_equal(table_server_key(b.t, e), "even");
	table_unref(e);
	/* Each expires when it would have. */
	by.now_ms += 5000;
	assert_int_equal(value(b.t, 4321, TABLE_GPC0), UINT64_MAX);
	assert_int_equal(value(b.t, 77, TABLE_GPC0), 77);
	while (!table_sweep(b.t, &by, 1000))
		;
	assert_int_equal(table_used(b.t), 2);
	end_side(&a);
	end_side(&b);
}

/* Entries that the previous process touches after the next one has read its clock. */
static void
entries_touched_during_the_start_are_copied(void **st)
{
	static const uint32_t expire_ms[] = { 60000, 0 };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(expire_ms); i++) {
		struct table_conf c = conf_of(TABLE_INTEGER, 4, 2, expire_ms[i]);
		struct side a, b;
		unsigned int n;

		start_side(&a, c);
		add_to(a.t, 1, TABLE_GPC0, 5);
		by.now_ms += 20;
		add_to(a.t, 2, TABLE_GPC0, 7);
		view_side(&a);
		by.now_ms -= 10;
		start_side(&b, c);
		assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, NULL), TABLE_RESTORED);
		assert_int_equal(n, 2);
		assert_int_equal(value(b.t, 2, TABLE_GPC0), 7);
		/* The first one was touched first. */
		table_unref(hold(b.t, 3));
		assert_int_equal(value(b.t, 1, TABLE_GPC0), UINT64_MAX);
		assert_int_equal(value(b.t, 2, TABLE_GPC0), 7);
		end_side(&b);
		end_side(&a);
	}
}

static void
another_table_starts_empty(void **st)
{
	struct side a, b;
	struct table_conf c = conf_of(TABLE_INTEGER, 4, 100, 0);
	unsigned int n;

	(void)st;
	start_side(&a, c);
	table_unref(hold(a.t, 1));
	view_side(&a);
	start_side(&b, conf_of(TABLE_STRING, 4, 100, 0));
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, NULL), TABLE_IS_OTHER);
	assert_false(table_is_restored(b.t));
	assert_int_equal(table_used(b.t), 0);
	end_side(&b);
	/* Another period: the rate starts again, the rest is copied. A smaller size: as full. */
	table_unref(hold(a.t, 2));
	table_unref(hold(a.t, 3));
	c.size = 2;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 1000;
	start_side(&b, c);
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, NULL), TABLE_RESTORED);
	assert_true(table_is_restored(b.t));
	assert_int_equal(table_used(b.t), 2);
	end_side(&b);
	end_side(&a);
}

/* Peer 1 sends key 7 with gpc0 30, conn_cur 2 and no bytes. */
static void
learn_of_peer(struct table *t)
{
	static const uint8_t def[] = { 1, 1, 't', 2, 4,
		1u << TABLE_GPC0 | 1u << TABLE_CONN_CUR, 0 };
	static const uint8_t entry[] = { 0, 0, 0, 7, 30, 2 };
	struct wire_in r = { def, def + sizeof(def), 0 };
	struct table_caller peer = { .sys = &sys, .now_ms = by.now_ms, .is_peer = 1, .part = 1 };
	struct table_wire_names names = { .name = { NULL } };
	struct table_wire_def d;

	assert_int_equal(table_wire_take_def(&r, &d), 0);
	assert_true(table_wire_fits(t, &d));
	r = (struct wire_in){ entry, entry + sizeof(entry), 0 };
	assert_int_equal(table_wire_learn(t, &d, &r, &names, 0, 0, &peer), 0);
	table_part_until(t, 1, UINT64_MAX);
}

/* Counts of peers are copied if they are the same ones, without their connections. */
static void
counts_of_peers_are_copied(void **st)
{
	static const struct {
		unsigned int peers;
		uint64_t names, gpc0;
	} next[] = { { 2, 5, 31 }, { 3, 5, 1 }, { 2, 6, 1 }, { 0, 0, 1 } };
	struct table_conf c = conf_of(TABLE_INTEGER, 4, 100, 60000);

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(next); i++) {
		struct side a, b;
		struct table_entry *e;
		unsigned int n;

		start_side_with_peers(&a, c, 2, 5);
		e = hold(a.t, 7);
		table_add(a.t, e, TABLE_GPC0, 0, &by, 1);
		table_unref(e);
		learn_of_peer(a.t);
		assert_int_equal(value(a.t, 7, TABLE_GPC0), 31);
		assert_int_equal(value(a.t, 7, TABLE_CONN_CUR), 2);
		view_side(&a);
		start_side_with_peers(&b, c, next[i].peers, next[i].names);
		assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, NULL), TABLE_RESTORED);
		assert_int_equal(value(b.t, 7, TABLE_GPC0), next[i].gpc0);
		if (next[i].peers)
			table_part_until(b.t, 1, UINT64_MAX);
		assert_int_equal(value(b.t, 7, TABLE_CONN_CUR), 0);
		end_side(&a);
		end_side(&b);
	}
}

static void
pass_over(struct table_follow *f)
{
	while (table_follow_step(f, 1, &by))
		;
}

/* Two previous processes drain; the later one counts what it sees of the earlier one. */
static void
connections_of_previous_processes_are_counted(void **st)
{
	struct side a, b, c;
	struct table_follow *in_b, *in_c[2];
	struct table_entry *e, *f;
	unsigned int n;

	(void)st;
	start_side(&a, conf_of(TABLE_INTEGER, 4, 100, 1000));
	e = hold(a.t, 1);
	table_add(a.t, e, TABLE_CONN_CUR, 0, &by, 3);
	view_side(&a);
	start_side(&b, conf_of(TABLE_INTEGER, 4, 100, 1000));
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &in_b), TABLE_RESTORED);
	assert_int_equal(value(b.t, 1, TABLE_CONN_CUR), 3);
	f = hold(b.t, 1);
	table_add(b.t, f, TABLE_CONN_CUR, 0, &by, 1);
	view_side(&b);
	start_side(&c, conf_of(TABLE_INTEGER, 4, 100, 1000));
	assert_int_equal(table_follow_restore(c.t, &b.view, &by, &n, &in_c[1]), TABLE_RESTORED);
	in_c[0] = table_follow_connections(c.t, &a.view, &by);
	assert_non_null(in_c[0]);
	assert_int_equal(value(c.t, 1, TABLE_CONN_CUR), 4);
	(void)table_less(a.t, e, TABLE_CONN_CUR);
	pass_over(in_b);
	pass_over(in_c[0]);
	pass_over(in_c[1]);
	assert_int_equal(value(b.t, 1, TABLE_CONN_CUR), 3);
	assert_int_equal(value(c.t, 1, TABLE_CONN_CUR), 3);
	(void)table_less(b.t, f, TABLE_CONN_CUR);
	pass_over(in_c[1]);
	pass_over(in_c[1]);
	assert_true(table_follow_is_idle(in_c[1]) && !table_follow_is_idle(in_c[0]));
	assert_int_equal(value(c.t, 1, TABLE_CONN_CUR), 2);
	/* An entry that is in use there does not expire. */
	by.now_ms += 2000;
	assert_int_equal(value(c.t, 1, TABLE_CONN_CUR), 2);
	/* A process that has died: its connections are gone. */
	table_follow_free(in_c[0], &by);
	table_follow_free(in_c[1], &by);
	assert_int_equal(value(c.t, 1, TABLE_CONN_CUR), UINT64_MAX);
	table_follow_free(in_b, &by);
	table_unref(e);
	table_unref(f);
	end_side(&a);
	end_side(&b);
	end_side(&c);
}

/* Two previous processes drain. The later one adds what the earlier one counts, until it has ended:
 * then the next process does, of entries that it knows, of new ones, and of those in new chunks. */
static void
counts_of_an_earlier_process_are_added(void **st)
{
	static const uint32_t conn_cur[] = { 1, 0 };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(conn_cur); i++) {
		struct table_conf conf = conf_of(TABLE_INTEGER, 4, 1000, 60000);
		struct table_follow *in_b, *in_c[2];
		struct side a, b, c;
		unsigned int n;

		conf.store[TABLE_CONN_CUR].n = conn_cur[i];
		start_side(&a, conf);
		add_to(a.t, 1, TABLE_GPC0, 5);
		view_side(&a);
		start_side(&b, conf);
		(void)table_follow_restore(b.t, &a.view, &by, &n, &in_b);
		view_side(&b);
		start_side(&c, conf);
		(void)table_follow_restore(c.t, &b.view, &by, &n, &in_c[1]);
		in_c[0] = table_follow_connections(c.t, &a.view, &by);
		assert_non_null(in_c[0]);
		for (uint32_t v = 1; v < 400; v++)
			add_to(a.t, v, TABLE_GPC0, 2);
		(void)!memfile_more(&a.view);
		pass_over(in_b);
		(void)!memfile_more(&b.view);
		pass_over(in_c[0]);
		pass_over(in_c[1]);
		assert_int_equal(value(c.t, 1, TABLE_GPC0), 7);
		assert_int_equal(value(c.t, 399, TABLE_GPC0), 2);
		table_follow_free(in_b, &by);
		table_follow_free(in_c[1], &by);
		table_follow_count(in_c[0]);
		pass_over(in_c[0]);
		for (uint32_t v = 1; v < 800; v++)
			add_to(a.t, v, TABLE_GPC0, 3);
		(void)!memfile_more(&a.view);
		pass_over(in_c[0]);
		assert_int_equal(value(c.t, 1, TABLE_GPC0), 10);
		assert_int_equal(value(c.t, 399, TABLE_GPC0), 5);
		assert_int_equal(value(c.t, 799, TABLE_GPC0), 3);
		table_follow_free(in_c[0], &by);
		end_side(&a);
		end_side(&b);
		end_side(&c);
	}
}

/* Peers are sent the number when connections of a previous process end, or when it has died. */
static void
connections_that_end_are_logged(void **st)
{
	struct side a, b;
	struct table_follow *f;
	struct table_entry *e;
	unsigned int n;

	(void)st;
	start_side_with_peers(&a, conf_of(TABLE_INTEGER, 4, 100, 1000), 1, 1);
	e = hold(a.t, 1);
	table_add(a.t, e, TABLE_CONN_CUR, 0, &by, 3);
	view_side(&a);
	start_side_with_peers(&b, conf_of(TABLE_INTEGER, 4, 100, 1000), 1, 1);
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &f), TABLE_RESTORED);
	(void)table_log_collect(b.t, 100, &by);
	(void)table_less(a.t, e, TABLE_CONN_CUR);
	pass_over(f);
	assert_int_equal(value(b.t, 1, TABLE_CONN_CUR), 2);
	assert_int_equal(table_log_collect(b.t, 100, &by), 1);
	pass_over(f);
	assert_int_equal(table_log_collect(b.t, 100, &by), 0);
	table_follow_free(f, &by);
	assert_int_equal(value(b.t, 1, TABLE_CONN_CUR), 0);
	assert_int_equal(table_log_collect(b.t, 100, &by), 1);
	table_unref(e);
	end_side(&a);
	end_side(&b);
}

/* See --wrap in build-aux/build.mk: what a previous process counts when its entries are sorted. */
static struct table *counts_at_sort;
void __real_qsort(void *p, size_t n, size_t size, int (*compare)(const void *, const void *));
void __wrap_qsort(void *p, size_t n, size_t size, int (*compare)(const void *, const void *));

void
__wrap_qsort(void *p, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (counts_at_sort) {
		struct table_entry *e = hold(counts_at_sort, 1);

		table_add(counts_at_sort, e, TABLE_GPC0, 0, &by, 1);
		table_unref(e);
		/* The reference stays. */
		table_add(counts_at_sort, hold(counts_at_sort, 2), TABLE_CONN_CUR, 0, &by, 1);
	}
	__real_qsort(p, n, size, compare);
}

/* Peers have been sent the entries that are copied, and not what is counted meanwhile. */
static void
counts_during_the_copy_are_logged(void **st)
{
	struct side a, b;
	struct table_follow *f;
	unsigned int n;

	(void)st;
	start_side_with_peers(&a, conf_of(TABLE_INTEGER, 4, 100, 1000), 1, 1);
	for (uint32_t i = 1; i < 6; i++) {
		struct table_entry *e = hold(a.t, i);

		table_add(a.t, e, TABLE_GPC0, 0, &by, 5);
		table_add(a.t, e, TABLE_CONN_CUR, 0, &by, 1);
		assert_int_equal(table_set_server_key(a.t, e, "s", &by), 0);
	}
	assert_int_equal(table_log_collect(a.t, 100, &by), 5);
	view_side(&a);
	start_side_with_peers(&b, conf_of(TABLE_INTEGER, 4, 100, 1000), 1, 1);
	counts_at_sort = a.t;
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &f), TABLE_RESTORED);
	counts_at_sort = NULL;
	assert_int_equal(value(b.t, 1, TABLE_GPC0), 6);
	assert_int_equal(value(b.t, 2, TABLE_CONN_CUR), 2);
	assert_int_equal(value(b.t, 3, TABLE_CONN_CUR), 1);
	assert_int_equal(table_log_collect(b.t, 100, &by), 2);
	pass_over(f);
	assert_int_equal(table_log_collect(b.t, 100, &by), 0);
	table_follow_free(f, &by);
	end_side(&a);
	end_side(&b);
}

/* Rates of bytes are in the units of the new brates-factor, those copied and those added. */
static void
byte_rates_are_rescaled(void **st)
{
	static const struct {
		uint32_t then, now;
		uint64_t copied, added;
	} next[] = { { 1, 100, 10, 15 }, { 100, 1, 1000, 1500 }, { 4, 4, 250, 375 } };
	struct table_conf c = conf_of(TABLE_INTEGER, 4, 100, 60000);

	(void)st;
	c.store[TABLE_BYTES_IN_RATE].n = c.store[TABLE_BYTES_OUT_RATE].n = 1;
	c.store[TABLE_BYTES_IN_RATE].period_ms = c.store[TABLE_BYTES_OUT_RATE].period_ms = 10000;
	for (unsigned int i = 0; i < ARRAY_LEN(next); i++) {
		struct table_follow *f;
		struct side a, b;
		unsigned int n;

		c.brates_factor = next[i].then;
		start_side(&a, c);
		table_unref(hold(a.t, 7));
		add_to(a.t, 7, TABLE_BYTES_IN_RATE, 1000);
		add_to(a.t, 7, TABLE_BYTES_OUT_RATE, 1000);
		add_to(a.t, 7, TABLE_HTTP_REQ_RATE, 3);
		view_side(&a);
		c.brates_factor = next[i].now;
		start_side(&b, c);
		assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &f), TABLE_RESTORED);
		assert_int_equal(value(b.t, 7, TABLE_BYTES_IN_RATE), next[i].copied);
		assert_int_equal(value(b.t, 7, TABLE_BYTES_OUT_RATE), next[i].copied);
		add_to(a.t, 7, TABLE_BYTES_IN_RATE, 500);
		pass_over(f);
		assert_int_equal(value(b.t, 7, TABLE_BYTES_IN_RATE), next[i].added);
		assert_int_equal(value(b.t, 7, TABLE_HTTP_REQ_RATE), 3);
		table_follow_free(f, &by);
		end_side(&b);
		end_side(&a);
	}
}

/* A previous process counts on after it was copied. */
static void
counts_of_a_previous_process_are_added(void **st)
{
	struct side a, b;
	struct table_follow *f;
	struct table_entry *e, *own;
	unsigned int n;

	(void)st;
	start_side(&a, conf_of(TABLE_INTEGER, 4, 5000, 100000));
	for (uint32_t i = 0; i < 3000; i++) {
		e = hold(a.t, i);
		table_add(a.t, e, TABLE_GPC0, 0, &by, i);
		table_add(a.t, e, TABLE_HTTP_REQ_RATE, 0, &by, 10);
		table_unref(e);
	}
	view_side(&a);
	start_side(&b, conf_of(TABLE_INTEGER, 4, 5000, 100000));
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &f), TABLE_RESTORED);
	assert_int_equal(n, 3000);
	pass_over(f);
	assert_true(table_follow_is_idle(f));
	/* Both count. */
	e = hold(a.t, 7);
	own = hold(b.t, 7);
	for (unsigned int i = 0; i < 100; i++) {
		table_add(a.t, e, TABLE_GPC0, 0, &by, 1);
		table_add(a.t, e, TABLE_HTTP_REQ_RATE, 0, &by, 1);
		table_add(a.t, e, TABLE_BYTES_IN_CNT, 0, &by, UINT64_C(1) << 32);
		table_add(b.t, own, TABLE_GPC0, 0, &by, 1);
		table_add(b.t, own, TABLE_HTTP_REQ_RATE, 0, &by, 1);
		if (i % 10 == 0)
			pass_over(f);
	}
	assert_int_equal(table_set_server_key(a.t, e, "late", &by), 0);
	pass_over(f);
	assert_int_equal(value(b.t, 7, TABLE_GPC0), 207);
	assert_int_equal(value(b.t, 7, TABLE_HTTP_REQ_RATE), 210);
	assert_int_equal(value(b.t, 7, TABLE_BYTES_IN_CNT), UINT64_C(100) << 32);
	/* A new period there, and a counter that is cleared. */
	by.now_ms += 10000;
	table_add(a.t, e, TABLE_HTTP_REQ_RATE, 0, &by, 5);
	table_set(a.t, e, TABLE_GPC0, 0, &by, 2);
	pass_over(f);
	assert_int_equal(value(b.t, 7, TABLE_GPC0), 209);
	assert_int_equal(value(b.t, 7, TABLE_HTTP_REQ_RATE), 215);
	pass_over(f);
	assert_true(table_follow_is_idle(f));
	/* An entry that is replaced there by another one. */
	table_unref(e);
	assert_int_equal(table_remove(a.t, hold(a.t, 7), &by), 0);
	e = hold(a.t, 7);
	table_add(a.t, e, TABLE_GPC0, 0, &by, 1);
	pass_over(f);
	assert_int_equal(value(b.t, 7, TABLE_GPC0), 210);
	table_unref(e);
	table_unref(own);
	table_follow_free(f, &by);
	end_side(&a);
	end_side(&b);
}

/* Chunks of a large table are so long that a step is bounded by their slots. */
static void
a_step_has_so_many_slots(void **st)
{
	struct side a, b;
	struct table_follow *f;
	unsigned int n, steps;

	(void)st;
	start_side(&a, conf_of(TABLE_INTEGER, 4, 20000000, 100000));
	for (uint32_t i = 0; i < 1000; i++)
		table_unref(hold(a.t, i));
	view_side(&a);
	start_side(&b, conf_of(TABLE_INTEGER, 4, 2000, 100000));
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &f), TABLE_RESTORED);
	assert_int_equal(n, 1000);
	/* Each of 64 shards has a chunk of 4096 slots. */
	for (steps = 1; table_follow_step(f, 65536, &by); steps++)
		;
	assert_int_equal(steps, 4);
	table_follow_free(f, &by);
	end_side(&a);
	end_side(&b);
}

/* So does a table that becomes larger there, whose chunks and names are new. */
static void
new_chunks_of_a_previous_process_are_followed(void **st)
{
	struct side a, b;
	struct table_follow *f;
	struct table_entry *e;
	unsigned int n;

	(void)st;
	start_side(&a, conf_of(TABLE_INTEGER, 4, 5000, 100000));
	table_unref(hold(a.t, 5000));
	view_side(&a);
	start_side(&b, conf_of(TABLE_INTEGER, 4, 5000, 100000));
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, &f), TABLE_RESTORED);
	assert_int_equal(n, 1);
	for (uint32_t i = 0; i < 3000; i++) {
		e = hold(a.t, i);
		table_add(a.t, e, TABLE_GPC0, 0, &by, i);
		assert_int_equal(table_set_server_key(a.t, e, "late", &by), 0);
		table_unref(e);
	}
	assert_int_equal(memfile_more(&a.view), 0);
	pass_over(f);
	for (uint32_t i = 0; i < 3000; i++) {
		assert_int_equal(value(b.t, i, TABLE_GPC0), i);
		e = hold(b.t, i);
		assert_string_equal(table_server_key(b.t, e), "late");
		table_unref(e);
	}
	table_follow_free(f, &by);
	end_side(&a);
	end_side(&b);
}

/* The table has become smaller: entries with numbers take the slots of those that await one. */
static void
a_smaller_table_logs_all_that_it_has_room_for(void **st)
{
	struct side a, b;
	struct table_entry *e[40];
	unsigned int n, has = 0;

	(void)st;
	start_side_with_peers(&a, conf_of(TABLE_INTEGER, 4, 100, 60000), 1, 1);
	for (uint32_t i = 0; i < ARRAY_LEN(e); i++)
		e[i] = hold(a.t, i);
	by.now_ms += 100;
	for (uint32_t i = 100; i < 140; i++) {
		struct table_entry *other = hold(a.t, i);

		table_add(a.t, other, TABLE_GPC0, 0, &by, 1);
		table_unref(other);
	}
	assert_int_equal(table_log_collect(a.t, 1000, &by), 80);
	for (uint32_t i = 0; i < ARRAY_LEN(e); i++) {
		table_add(a.t, e[i], TABLE_GPC0, 0, &by, 1);
		table_unref(e[i]);
	}
	view_side(&a);
	start_side_with_peers(&b, conf_of(TABLE_INTEGER, 4, 10, 60000), 1, 1);
	assert_int_equal(table_follow_restore(b.t, &a.view, &by, &n, NULL), TABLE_RESTORED);
	assert_int_equal(n, 80);
	assert_in_range(table_log_collect(b.t, 1000, &by), 1, 10);
	assert_int_equal(table_log_collect(b.t, 1000, &by), 0);
	for (uint32_t i = 100; i < 140; i++) {
		struct table_key k;
		struct table_entry *other;

		assert_int_equal(table_key_int(b.t, &k, i), 0);
		other = table_find(b.t, &k, &by);
		if (!other)
			continue;
		assert_true(table_log_has(b.t, other));
		has++;
		table_unref(other);
	}
	assert_int_equal(has, 10);
	end_side(&a);
	end_side(&b);
}

/* A previous process is hostile: whatever it has written, nothing outside of its file is read. */
static void
any_bytes_are_read(void **st)
{
	struct side a, b;
	uint32_t seed = 1;

	(void)st;
	start_side_with_peers(&a, conf_of(TABLE_STRING, 9, 50, 1000), 1, 1);
	/* The changes of the first ones have no number. */
	for (uint32_t i = 0; i < 75; i++) {
		struct table_entry *e;
		struct table_key k;
		char text[16];

		(void)snprintf(text, sizeof(text), "key%u", i % 50);
		(void)table_key_bytes(a.t, &k, text, strlen(text));
		e = table_get(a.t, &k, &by);
		table_add(a.t, e, TABLE_GPC0, 0, &by, 1);
		table_unref(e);
		if (i == 49)
			assert_int_equal(table_log_collect(a.t, 1000, &by), 50);
	}
	for (unsigned int round = 0; round < 3000; round++) {
		size_t n = atomic_load(&((struct memfile_head *)(void *)a.file.map)->used);
		struct table_follow *f = NULL;
		struct memfile_view v;
		char *copy = mem_alloc_aligned(64, n);
		const char *why;
		unsigned int copied;

		assert_non_null(copy);
		memcpy(copy, a.file.map, n);
		for (unsigned int i = 0; i < 4; i++) {
			seed = seed * 1664525u + 1013904223u;
			copy[MEMFILE_HEAD + (seed >> 8) % (round % 2 ? 512 : n - MEMFILE_HEAD)] ^=
				(char)(1u << (seed & 7));
		}
		start_side_with_peers(&b, conf_of(TABLE_STRING, 9, 50, 1000), 1, 1);
		if (memfile_read(&v, copy, n, table_file_layout(), &why) == 0) {
			(void)table_follow_restore(b.t, &v, &by, &copied, round % 3 ? &f : NULL);
			for (unsigned int i = 0; f && i < n / 100; i++)
				copy[MEMFILE_HEAD + i * 97 % (n - MEMFILE_HEAD)] ^= (char)i;
			(void)!memfile_more(&v);
			if (f)
				pass_over(f);
			table_follow_free(f, &by);
			table_follow_free(table_follow_connections(b.t, &v, &by), &by);
			memfile_forget_names(&v);
			assert_in_range(table_log_collect(b.t, 1000, &by), 0, 50);
			assert_int_equal(table_log_collect(b.t, 1000, &by), 0);
		}
		end_side(&b);
		mem_free(copy);
	}
	end_side(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_copied),
		cmocka_unit_test(entries_touched_during_the_start_are_copied),
		cmocka_unit_test(another_table_starts_empty),
		cmocka_unit_test(byte_rates_are_rescaled),
		cmocka_unit_test(counts_of_peers_are_copied),
		cmocka_unit_test(connections_of_previous_processes_are_counted),
		cmocka_unit_test(counts_of_an_earlier_process_are_added),
		cmocka_unit_test(connections_that_end_are_logged),
		cmocka_unit_test(counts_during_the_copy_are_logged),
		cmocka_unit_test(counts_of_a_previous_process_are_added),
		cmocka_unit_test(a_step_has_so_many_slots),
		cmocka_unit_test(new_chunks_of_a_previous_process_are_followed),
		cmocka_unit_test(a_smaller_table_logs_all_that_it_has_room_for),
		cmocka_unit_test(any_bytes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
