/* A reload: the next process has the tables of the previous one, and what its peers know. */
#include "peers_rig.h"
#include "table/table_file.h"
#include "table/table_follow.h"

/* The files of the processes of node a. */
static struct memfile file[2];
static struct memfile_view view;
/* A second table, which the next process alone has. */
static struct table *second;

/* Begins a process of node A, with its file, and with a second table. */
static void
begin_process(struct node *n, unsigned int i, int with_second)
{
	begin_tables(n, "A", 1000);
	assert_int_equal(memfile_create(&file[i], &sys, MEMFILE_HEAD + table_file_room(n->t) +
				 table_file_marks_room(n->t, 3), table_file_layout(), i + 1), 0);
	assert_int_equal(table_file_place(n->t, &file[i]), 0);
	assert_int_equal(memfile_seal(&file[i]), 0);
	second = with_second ? make_table("second", 100) : NULL;
	if (second) {
		assert_int_equal(table_share(second, &n->news), 0);
		assert_int_equal(peer_group_add_table(n->g, second, "second"), 0);
	}
	begin_group(n, "B", "C");
}

/* Nobody could be asked. */
static void
end_wait(struct node *n)
{
	set_clock(by.now_ms + PEER_RESYNC_MS);
	assert_true(peer_group_tick(n->g, by.now_ms) == UINT64_MAX);
	assert_int_equal(n->g->resync, PEER_RESYNC_DONE);
}

/* Begins the next process, while the previous one lives. */
static void
reload(struct node *next, struct node *n, int with_second)
{
	const char *why;
	unsigned int copied;

	begin_process(next, 1, with_second);
	assert_int_equal(memfile_open(&view, &sys, file[0].fd, table_file_layout(), &why), 0);
	assert_int_equal(table_follow_restore(next->t, &view, &by, &copied, NULL),
		TABLE_RESTORED);
	assert_int_equal(copied, table_used(n->t));
	peer_group_resume(next->g, &view);
}

static void
end_processes(struct node *n, struct node *next)
{
	end_node(n);
	end_node(next);
	table_free(second);
	memfile_close(&view);
	memfile_free(&file[0]);
	memfile_free(&file[1]);
}

/* Changes that the previous process has not sent, or that were not acknowledged, are sent by the
 * next one, and no others: not those that a peer has replaced since. */
static void
changes_that_were_not_sent_outlive_a_reload(void **st)
{
	struct node a, next, b, c;

	(void)st;
	begin_process(&a, 0, 0);
	begin_node(&b, "B", 1000, "A", NULL);
	begin_node(&c, "C", 1000, "A", NULL);
	end_wait(&a);
	connect_nodes(&a, &b);
	for (uint32_t i = 0; i < 20; i++)
		count(&a, i, 1, NULL);
	talk(&a.s[0], &b.s[0]);
	cut(&a, &b);
	/* Sent to one of two peers. */
	count(&a, 5, 1, "s1");
	assert_int_equal(peer_session_begin(&a.s[1], a.g, &a.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&c.s[0], c.g, NULL, by.now_ms), 0);
	talk(&a.s[1], &c.s[0]);
	assert_int_equal(counted(&c, 5), 2);
	/* Not collected. */
	count(&a, 6, 1, NULL);
	count(&b, 7, 1, NULL);
	count(&c, 7, 1, NULL);
	reload(&next, &a, 0);
	assert_int_equal(next.g->resync, PEER_RESYNC_DONE);
	count(&next, 8, 1, NULL);
	connect_nodes(&next, &b);
	assert_true(talk_for(&next.s[0], &b.s[0], 1000, SIZE_MAX) < 150);
	assert_int_equal(counted(&b, 4), 1);
	assert_int_equal(counted(&b, 5), 2);
	assert_int_equal(counted(&b, 6), 2);
	assert_int_equal(counted(&b, 7), 2);
	assert_int_equal(counted(&b, 8), 2);
	assert_int_equal(counted(&next, 7), 2);
	assert_int_equal(next.g->peer[0].cursor[0].acked, table_log_end(next.t));
	cut(&next, &b);
	connect_nodes(&next, &b);
	assert_true(talk_for(&next.s[0], &b.s[0], 1000, SIZE_MAX) < 30);
	end_processes(&a, &next);
	end_node(&b);
	end_node(&c);
}

/* The previous process was taught when it ended: the next one asks, and sends nothing before. */
static void
a_process_asks_if_the_previous_one_had_not_all(void **st)
{
	struct node a, next, b;

	(void)st;
	begin_node(&b, "B", 1000, "A", NULL);
	b.g->resync = PEER_RESYNC_DONE;
	for (uint32_t i = 0; i < 20; i++)
		count(&b, i, 100, NULL);
	begin_process(&a, 0, 0);
	count(&a, 1, 1, NULL);
	reload(&next, &a, 0);
	assert_int_equal(next.g->resync, PEER_RESYNC_WANTED);
	connect_nodes(&next, &b);
	talk(&next.s[0], &b.s[0]);
	assert_int_equal(next.g->resync, PEER_RESYNC_DONE);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(counted(&next, i), 100);
		assert_int_equal(counted(&b, i), 100);
	}
	end_processes(&a, &next);
	end_node(&b);
}

/* Another table is empty, and so peers are asked: a lesson replaces nothing of this one. */
static void
a_lesson_replaces_nothing_that_was_restored(void **st)
{
	struct node a, next, b;

	(void)st;
	begin_process(&a, 0, 0);
	begin_node(&b, "B", 1000, "A", NULL);
	end_wait(&a);
	count(&a, 1, 1, NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	cut(&a, &b);
	count(&a, 1, 5, NULL);
	(void)table_log_collect(a.t, 100, &by);
	reload(&next, &a, 1);
	assert_int_equal(next.g->resync, PEER_RESYNC_WANTED);
	connect_nodes(&b, &next);
	talk(&b.s[0], &next.s[0]);
	assert_int_equal(next.g->resync, PEER_RESYNC_DONE);
	assert_int_equal(counted(&next, 1), 6);
	assert_int_equal(counted(&b, 1), 6);
	end_processes(&a, &next);
	end_node(&b);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(changes_that_were_not_sent_outlive_a_reload),
		TEST(a_process_asks_if_the_previous_one_had_not_all),
		TEST(a_lesson_replaces_nothing_that_was_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
