/* Tables that add up what several processes count (aggregate), in virtual time. */
#include <string.h>

#include "base/keyhash.h"
#include "base/sys.h"
#include "peers/peer_out.h"
#include "peers/peer_session.h"
#include "table/table_log.h"
#include "unit/test.h"

#define NODES 3
#define SIZE 5000u

static struct sys sys;
static struct table_caller by = { .sys = &sys };

/* A process: its table, and a session with each of the others. */
static struct node {
	struct peer_group *g;
	struct table *t, *plain;
	_Atomic int news;
	struct peer_session s[NODES];
} node[NODES];

static const char *const names[NODES] = { "A", "B", "C" };

static void
note_replaced(struct peer_session *s)
{
	peer_session_end(s);
}

/* The number of node b among the peers of node a. */
static unsigned int
peer_of(unsigned int a, unsigned int b)
{
	return b - (b > a);
}

/* A table whose values replace each other. */
static struct table *
make_plain(void)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 10,
		.expire_ms = 60000, .brates_factor = 1 };

	c.store[TABLE_GPC0].n = 1;
	return table_new("plain", &c, &keyhash_known);
}

/* `adds` 0: it has the table as others have it, whose values replace each other. */
static void
begin_node(unsigned int i, int adds)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = SIZE + 10,
		.expire_ms = 60000, .brates_factor = 1, .aggregate = (uint8_t)adds };
	struct node *n = &node[i];

	memset(n, 0, sizeof(*n));
	c.store[TABLE_GPT0].n = 1;
	c.store[TABLE_GPC0].n = 1;
	c.store[TABLE_CONN_CUR].n = 1;
	c.store[TABLE_BYTES_IN_CNT].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 10000;
	n->t = table_new("t", &c, &keyhash_known);
	n->plain = make_plain();
	n->g = peer_group_new("group", names[i]);
	assert_true(n->t && n->plain && n->g);
	n->g->on_replaced = note_replaced;
	assert_int_equal(table_share(n->t, &n->news), 0);
	if (adds)
		assert_int_equal(table_aggregate(n->t, NODES - 1, 1), 0);
	assert_int_equal(table_share(n->plain, &n->news), 0);
	assert_int_equal(peer_group_add_table(n->g, n->t, "t"), 0);
	assert_int_equal(peer_group_add_table(n->g, n->plain, "plain"), 0);
	for (unsigned int j = 0; j < NODES; j++)
		if (j != i)
			assert_int_equal(peer_group_add_peer(n->g, names[j], 0), 0);
	assert_int_equal(peer_group_start(n->g, by.now_ms), 0);
}

static void
end_node(unsigned int i)
{
	struct node *n = &node[i];

	for (unsigned int j = 0; j < NODES; j++)
		if (n->s[j].group)
			peer_session_end(&n->s[j]);
	peer_group_free(n->g);
	table_free(n->t);
	table_free(n->plain);
}

/* Moves what a has to say to b. True if there was something, or more is to come. */
static int
say(unsigned int a, unsigned int b)
{
	struct peer_session *from = &node[a].s[b], *to = &node[b].s[a];
	int has_more = peer_session_fill(from, &by);
	struct str out = peer_session_output(from);
	size_t room, n;
	uint8_t *in = peer_session_room(to, &room);

	n = MIN(MIN(out.len, room), 1000);
	if (n) {
		memcpy(in, out.p, n);
		peer_session_receive(to, n, &by);
	}
	peer_session_sent(from, n, &by);
	return n || has_more;
}

/* Runs all sessions until none has output. */
static void
talk(void)
{
	int busy;

	do {
		busy = 0;
		for (unsigned int a = 0; a < NODES; a++)
			for (unsigned int b = 0; b < NODES; b++)
				if (a != b && node[a].s[b].group && node[b].s[a].group)
					busy |= say(a, b);
	} while (busy);
}

static void
connect_nodes(unsigned int a, unsigned int b)
{
	struct peer *p = &node[a].g->peer[peer_of(a, b)];

	assert_int_equal(peer_session_begin(&node[a].s[b], node[a].g, p, by.now_ms), 0);
	assert_int_equal(peer_session_begin(&node[b].s[a], node[b].g, NULL, by.now_ms), 0);
}

static void
cut(unsigned int a, unsigned int b)
{
	peer_session_end(&node[a].s[b]);
	peer_session_end(&node[b].s[a]);
	node[a].s[b].group = node[b].s[a].group = NULL;
}

static void
begin_all(void)
{
	for (unsigned int i = 0; i < NODES; i++)
		begin_node(i, 1);
	for (unsigned int i = 0; i < NODES; i++)
		for (unsigned int j = i + 1; j < NODES; j++)
			connect_nodes(i, j);
	talk();
}

static void
end_all(void)
{
	for (unsigned int i = 0; i < NODES; i++)
		end_node(i);
}

static struct table_entry *
entry_of(unsigned int i, uint32_t key, int makes)
{
	struct table_key k;

	assert_int_equal(table_key_int(node[i].t, &k, key), 0);
	return makes ? table_get(node[i].t, &k, &by) : table_find(node[i].t, &k, &by);
}

static void
count(unsigned int i, uint32_t key, enum table_data type, uint64_t v)
{
	struct table_entry *e = entry_of(i, key, 1);

	assert_non_null(e);
	assert_int_equal(table_add(node[i].t, e, type, 0, &by, v), 0);
	table_unref(e);
}

static uint64_t
value(unsigned int i, uint32_t key, enum table_data type)
{
	struct table_entry *e = entry_of(i, key, 0);
	uint64_t v = 0;

	if (!e)
		return UINT64_MAX;
	assert_int_equal(table_read(node[i].t, e, type, 0, &by, &v), 0);
	table_unref(e);
	return v;
}

static void
assert_all(uint32_t key, enum table_data type, uint64_t v)
{
	for (unsigned int i = 0; i < NODES; i++)
		assert_int_equal(value(i, key, type), v);
}

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	by.now_ms = 1000000;
	return 0;
}

static void
counts_are_the_sum(void **st)
{
	struct table_entry *e;
	uint64_t v;

	(void)st;
	begin_all();
	for (unsigned int i = 0; i < NODES; i++) {
		count(i, 1, TABLE_GPC0, 5 + i);
		count(i, 1, TABLE_HTTP_REQ_RATE, 10 + i);
		count(i, 1, TABLE_BYTES_IN_CNT, UINT64_C(4000000000));
		count(i, 1, TABLE_CONN_CUR, 1);
	}
	talk();
	assert_all(1, TABLE_GPC0, 18);
	assert_all(1, TABLE_HTTP_REQ_RATE, 33);
	assert_all(1, TABLE_BYTES_IN_CNT, UINT64_C(12000000000));
	assert_all(1, TABLE_CONN_CUR, 3);
	/* The own part alone is sent: nothing comes back. */
	count(0, 1, TABLE_GPC0, 100);
	talk();
	count(1, 1, TABLE_GPC0, 1000);
	talk();
	assert_all(1, TABLE_GPC0, 1118);
	e = entry_of(2, 1, 1);
	assert_int_equal(table_inc_gpc(node[2].t, e, 0, &by, 1, &v), 0);
	assert_int_equal(v, 1119);
	for (unsigned int i = 0; i < NODES - 1; i++) {
		assert_int_equal(table_read_part(node[2].t, e, TABLE_GPC0, 0, i, &by, &v), 0);
		assert_int_equal(v, i ? 1006 : 105);
	}
	assert_int_equal(table_read_part(node[2].t, e, TABLE_GPC0, 0, NODES - 1, &by, &v), -1);
	/* Tags are no counts: the last one that was set. */
	assert_int_equal(table_set(node[2].t, e, TABLE_GPT0, 0, &by, 7), 0);
	table_unref(e);
	talk();
	assert_all(1, TABLE_GPT0, 7);
	assert_all(1, TABLE_GPC0, 1119);
	/* Rates end by themselves, everywhere. */
	by.now_ms += 30000;
	assert_all(1, TABLE_HTTP_REQ_RATE, 0);
	end_all();
}

/* An entry that expires takes all parts with it. */
static void
an_entry_that_is_made_again_has_no_parts(void **st)
{
	(void)st;
	begin_all();
	count(0, 1, TABLE_GPC0, 5);
	talk();
	assert_all(1, TABLE_GPC0, 5);
	by.now_ms += 70000;
	count(1, 1, TABLE_GPC0, 1);
	assert_int_equal(value(1, 1, TABLE_GPC0), 1);
	while (!table_sweep(node[2].t, &by, 100))
		;
	count(2, 2, TABLE_GPC0, 1);
	assert_int_equal(value(2, 2, TABLE_GPC0), 1);
	end_all();
}

/* Its counters stay until the entry expires, its connections for 5 s: those of a dead process are
 * none. It comes back, and they count again. */
static void
a_peer_that_leaves_has_no_connections(void **st)
{
	(void)st;
	begin_all();
	count(0, 1, TABLE_CONN_CUR, 4);
	count(0, 1, TABLE_GPC0, 9);
	count(1, 1, TABLE_CONN_CUR, 1);
	talk();
	assert_all(1, TABLE_CONN_CUR, 5);
	cut(0, 1);
	by.now_ms += PEER_SILENCE_MS - 1;
	assert_int_equal(value(1, 1, TABLE_CONN_CUR), 5);
	by.now_ms++;
	assert_int_equal(value(1, 1, TABLE_CONN_CUR), 1);
	assert_int_equal(value(1, 1, TABLE_GPC0), 9);
	assert_int_equal(value(2, 1, TABLE_CONN_CUR), 5);
	count(0, 1, TABLE_GPC0, 1);
	connect_nodes(1, 0);
	talk();
	assert_int_equal(value(1, 1, TABLE_CONN_CUR), 5);
	assert_int_equal(value(1, 1, TABLE_GPC0), 10);
	end_all();
}

/* A process that starts again asks all others for their counts, and for what it had counted itself,
 * which it sends nobody before it has it back. Its old connections are none any more. */
static void
a_process_that_starts_again_learns_all_parts(void **st)
{
	(void)st;
	begin_all();
	for (uint32_t key = 0; key < SIZE; key++)
		count(key % NODES, key, TABLE_GPC0, key % 7 + 1);
	for (unsigned int i = 0; i < NODES; i++) {
		count(i, 3, TABLE_CONN_CUR, 2);
		count(i, 4, TABLE_CONN_CUR, 2);
	}
	talk();
	assert_all(3, TABLE_CONN_CUR, 6);
	cut(0, 1);
	cut(0, 2);
	end_node(0);
	by.now_ms += 10;
	begin_node(0, 1);
	count(0, 3, TABLE_GPC0, 1);
	count(0, SIZE + 1, TABLE_GPC0, 1);
	connect_nodes(0, 1);
	talk();
	connect_nodes(2, 0);
	talk();
	for (uint32_t key = 0; key < SIZE; key++)
		assert_all(key, TABLE_GPC0, key % 7 + 1);
	assert_all(SIZE + 1, TABLE_GPC0, 1);
	count(0, 3, TABLE_GPC0, 1);
	talk();
	assert_all(3, TABLE_GPC0, 5);
	assert_all(4, TABLE_CONN_CUR, 4);
	count(0, 4, TABLE_CONN_CUR, 1);
	talk();
	assert_all(4, TABLE_CONN_CUR, 5);
	end_all();
}

/* A peer is sent missed changes before it has said that it has begun: that is no answer. */
static void
what_was_missed_is_no_answer(void **st)
{
	(void)st;
	begin_all();
	count(1, 3, TABLE_GPC0, 5);
	talk();
	cut(0, 1);
	cut(1, 2);
	for (unsigned int round = 0; round < 200; round++) {
		for (uint32_t key = 10; key < 110; key++)
			count(0, key, TABLE_GPC0, 1);
		talk();
	}
	end_node(1);
	begin_node(1, 1);
	node[1].g->resync = PEER_RESYNC_DONE;
	connect_nodes(0, 1);
	assert_true(table_log_first(node[0].t) > node[0].g->peer[0].cursor[0].acked);
	(void)say(0, 1);
	(void)say(1, 0);
	while (peer_session_fill(&node[0].s[1], &by))
		;
	assert_false(node[0].s[1].lesson.is_on);
	talk();
	assert_int_equal(value(1, 3, TABLE_GPC0), 5);
	assert_int_equal(value(1, 10, TABLE_GPC0), 200);
	assert_false(node[0].g->peer[0].needs_sums || node[1].g->peer[0].wants_sums);
	count(1, 3, TABLE_GPC0, 1);
	talk();
	assert_int_equal(value(0, 3, TABLE_GPC0), 6);
	end_all();
}

/* No entry is for the peer: the table is gone over in turns all the same. */
static void
a_lesson_of_nothing_has_turns(void **st)
{
	struct peer_session *s = &node[0].s[2];

	(void)st;
	begin_all();
	for (uint32_t key = 0; key < SIZE; key++)
		count(1, key, TABLE_GPC0, 1);
	talk();
	node[0].g->peer[peer_of(0, 2)].needs_sums = 1;
	assert_true(peer_session_fill(s, &by));
	assert_true(s->lesson.is_on && !s->lesson.is_sent);
	while (peer_session_fill(s, &by))
		;
	assert_true(s->lesson.is_sent);
	end_all();
}

/* Own counts are returned once, when the process has asked for them. */
static void
a_count_that_is_returned_later_is_none(void **st)
{
	struct table_entry *e;

	(void)st;
	begin_all();
	count(0, 3, TABLE_GPC0, 5);
	talk();
	e = entry_of(0, 3, 0);
	assert_int_equal(table_set(node[0].t, e, TABLE_GPC0, 0, &by, 0), 0);
	table_unref(e);
	node[1].s[0].peer_begins = 1;
	node[1].g->peer[0].needs_sums = 1;
	while (say(1, 0))
		;
	assert_true(node[1].s[0].lesson.is_sent);
	assert_int_equal(value(0, 3, TABLE_GPC0), 0);
	end_all();
}

/* Returned counts raise the own value, which is sent to those who have all others. */
static void
a_count_that_is_returned_is_sent_on(void **st)
{
	(void)st;
	begin_all();
	count(0, 3, TABLE_GPC0, 5);
	talk();
	cut(0, 2);
	cut(1, 2);
	end_node(2);
	cut(0, 1);
	end_node(0);
	begin_node(0, 1);
	begin_node(2, 1);
	/* 2 is new, and knows no counts of 0. */
	connect_nodes(0, 2);
	talk();
	assert_int_equal(value(2, 3, TABLE_GPC0), UINT64_MAX);
	connect_nodes(0, 1);
	talk();
	assert_int_equal(value(0, 3, TABLE_GPC0), 5);
	assert_int_equal(value(2, 3, TABLE_GPC0), 5);
	end_all();
}

static void
a_process_that_has_its_counts_takes_none_back(void **st)
{
	(void)st;
	begin_all();
	count(0, 3, TABLE_GPC0, 5);
	talk();
	cut(0, 1);
	cut(0, 2);
	end_node(0);
	begin_node(0, 1);
	/* A reload, after the table was cleared. */
	node[0].g->has_own = 1;
	connect_nodes(0, 1);
	talk();
	connect_nodes(2, 0);
	talk();
	assert_int_equal(value(0, 3, TABLE_GPC0), UINT64_MAX);
	end_all();
}

/* More changes than the log has room for. */
static void
a_peer_that_was_away_for_long_is_taught(void **st)
{
	(void)st;
	begin_all();
	cut(0, 1);
	for (unsigned int round = 0; round < 4; round++) {
		for (uint32_t key = 0; key < SIZE; key++)
			count(0, key, TABLE_GPC0, 1);
		talk();
	}
	assert_true(table_log_first(node[0].t) > node[0].g->peer[0].cursor[0].acked);
	connect_nodes(0, 1);
	talk();
	for (uint32_t key = 0; key < SIZE; key++)
		assert_all(key, TABLE_GPC0, 4);
	assert_false(node[0].g->peer[0].needs_sums || node[0].g->peer[0].needs_teaching);
	count(0, 7, TABLE_GPC0, 1);
	talk();
	assert_all(7, TABLE_GPC0, 5);
	end_all();
}

/* Changes of one kind of table that have arrived are not sent again after a lesson of the other. */
static void
tables_are_acknowledged_in_a_lesson_of_sums(void **st)
{
	struct peer *p;
	struct table_entry *e;
	struct table_key k;

	(void)st;
	begin_all();
	p = &node[0].g->peer[0];
	assert_int_equal(table_key_int(node[0].plain, &k, 1), 0);
	e = table_get(node[0].plain, &k, &by);
	assert_int_equal(table_add(node[0].plain, e, TABLE_GPC0, 0, &by, 1), 0);
	table_unref(e);
	(void)say(0, 1);
	assert_int_equal(p->cursor[1].acked, 1);
	p->needs_sums = 1;
	(void)peer_session_fill(&node[0].s[1], &by);
	(void)say(1, 0);
	assert_true(node[0].s[1].lesson.is_on);
	assert_int_equal(p->cursor[1].acked, table_log_end(node[0].plain));
	talk();
	end_all();
}

/* The lesson has no table, and its end waits for room: the peer reads nothing. */
static void
the_end_of_a_lesson_needs_room(void **st)
{
	struct peer_session *s = &node[0].s[1];

	(void)st;
	begin_all();
	node[0].g->n_tables = 1;
	s->confirms = PEER_BUFFER / 2;
	node[0].g->peer[0].needs_teaching = 1;
	assert_true(peer_session_fill(s, &by));
	assert_int_equal(s->out_len, PEER_BUFFER);
	assert_false(s->lesson.is_sent);
	talk();
	assert_false(node[0].g->peer[0].needs_teaching);
	node[0].g->n_tables = 2;
	end_all();
}

/* A cut while all counts are sent: they are asked for again. */
static void
a_cut_has_counts_sent_again(void **st)
{
	(void)st;
	begin_node(0, 1);
	begin_node(1, 1);
	begin_node(2, 1);
	for (uint32_t key = 0; key < SIZE; key++)
		count(0, key, TABLE_GPC0, 1);
	connect_nodes(0, 1);
	for (unsigned int i = 0; i < 20; i++) {
		(void)say(0, 1);
		(void)say(1, 0);
	}
	assert_true(table_used(node[1].t) > 0 && table_used(node[1].t) < SIZE);
	cut(0, 1);
	connect_nodes(1, 0);
	talk();
	for (uint32_t key = 0; key < SIZE; key++)
		assert_int_equal(value(1, key, TABLE_GPC0), 1);
	end_all();
}

/* A process whose table does not add up gets no counts of tables that do. */
static void
another_kind_of_table_takes_no_part(void **st)
{
	(void)st;
	begin_node(0, 1);
	begin_node(1, 1);
	begin_node(2, 0);
	connect_nodes(0, 1);
	connect_nodes(0, 2);
	connect_nodes(1, 2);
	talk();
	for (unsigned int i = 0; i < NODES; i++)
		count(i, 1, TABLE_GPC0, 1);
	talk();
	assert_int_equal(value(0, 1, TABLE_GPC0), 2);
	assert_int_equal(value(1, 1, TABLE_GPC0), 2);
	assert_int_equal(value(2, 1, TABLE_GPC0), 1);
	end_all();
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(counts_are_the_sum),
		TEST(an_entry_that_is_made_again_has_no_parts),
		TEST(a_peer_that_leaves_has_no_connections),
		TEST(a_process_that_starts_again_learns_all_parts),
		TEST(what_was_missed_is_no_answer),
		TEST(a_lesson_of_nothing_has_turns),
		TEST(a_count_that_is_returned_later_is_none),
		TEST(a_count_that_is_returned_is_sent_on),
		TEST(a_process_that_has_its_counts_takes_none_back),
		TEST(a_peer_that_was_away_for_long_is_taught),
		TEST(tables_are_acknowledged_in_a_lesson_of_sums),
		TEST(the_end_of_a_lesson_needs_room),
		TEST(a_cut_has_counts_sent_again),
		TEST(another_kind_of_table_takes_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
