/* Lessons: what a process is sent that has begun, or has missed changes. */
#include <limits.h>

#include "peers_rig.h"

/* A process that starts asks the first peer that it is connected with. */
static void
a_new_process_is_taught(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 20000, "B", NULL);
	for (uint32_t i = 0; i < 20000; i++)
		count(&a, i, i % 9 + 1, i % 3 ? "s1" : NULL);
	set_clock(by.now_ms + 6000);
	assert_true(peer_group_tick(a.g, by.now_ms) == UINT64_MAX);
	begin_node(&b, "B", 20000, "A", NULL);
	connect_nodes(&b, &a);
	talk(&b.s[0], &a.s[0]);
	assert_int_equal(b.g->resync, PEER_RESYNC_DONE);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(counted(&b, i), i % 9 + 1);
	assert_int_equal(time_left(&b, 7), 54000);
	end_node(&a);
	end_node(&b);
}

/* The connection ends while a process is taught: it asks again. */
static void
a_lesson_begins_again_after_a_cut(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 20000, "B", NULL);
	for (uint32_t i = 0; i < 20000; i++)
		count(&a, i, 1, NULL);
	set_clock(by.now_ms + 6000);
	(void)peer_group_tick(a.g, by.now_ms);
	begin_node(&b, "B", 20000, "A", NULL);
	connect_nodes(&a, &b);
	(void)talk_for(&a.s[0], &b.s[0], 1000, 100000);
	assert_int_equal(b.g->resync, PEER_RESYNC_ASKED);
	cut(&a, &b);
	assert_int_equal(b.g->resync, PEER_RESYNC_WANTED);
	set_clock(by.now_ms + 6000);
	(void)peer_group_tick(b.g, by.now_ms);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(b.g->resync, PEER_RESYNC_DONE);
	assert_int_equal(table_used(b.t), 20000);
	end_node(&a);
	end_node(&b);
}

/* A peer that was cut off while it was taught is taught again when it asks again: it may have asked
 * another one, and old values would replace what it has changed since. */
static void
a_lesson_ends_with_its_connection(void **st)
{
	struct node a, b;
	uint32_t now;

	(void)st;
	begin_node(&a, "A", 1000, "B", NULL);
	for (uint32_t i = 0; i < 1000; i++)
		count(&a, i, 1, NULL);
	set_clock(by.now_ms + 6000);
	(void)peer_group_tick(a.g, by.now_ms);
	begin_node(&b, "B", 1000, "A", NULL);
	connect_nodes(&a, &b);
	(void)talk_for(&a.s[0], &b.s[0], 1000, 5000);
	assert_true(a.s[0].lesson.is_on);
	cut(&a, &b);
	b.g->resync = PEER_RESYNC_DONE; /* another peer has sent the rest */
	a.g->peer[0].cursor[0].acked = table_log_end(a.t);
	count(&b, 1, 6, NULL);
	now = counted(&b, 1);
	connect_nodes(&b, &a);
	talk(&b.s[0], &a.s[0]);
	assert_int_equal(counted(&b, 1), now);
	assert_int_equal(counted(&a, 1), now);
	assert_false(a.s[0].lesson.is_on);
	end_node(&a);
	end_node(&b);
}

/* The log has room for some changes: a peer that has missed more is taught all. */
static void
a_peer_that_was_away_for_long_is_taught(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	cut(&a, &b);
	for (uint32_t i = 0; i < 300; i++) {
		count(&a, i % 90, 1, NULL);
		if (i % 90 == 89)
			(void)table_log_collect(a.t, 1000, &by);
	}
	assert_true(table_log_first(a.t) > a.g->peer[0].cursor[0].acked);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 90; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	assert_false(a.g->peer[0].needs_teaching);
	count(&a, 1, 1, NULL);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(counted(&b, 1), counted(&a, 1));
	end_node(&a);
	end_node(&b);
}

/* After a partial answer another peer is asked. */
static void
a_partial_answer_has_another_asked(void **st)
{
	struct node a, b, c;

	(void)st;
	begin_node(&c, "C", 100, "A", "B");
	count(&c, 3, 3, NULL);
	set_clock(by.now_ms + 6000);
	(void)peer_group_tick(c.g, by.now_ms);
	begin_node(&a, "A", 100, "B", "C");
	begin_node(&b, "B", 100, "A", "C");
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(a.g->resync, PEER_RESYNC_WANTED);
	assert_int_equal(peer_session_begin(&a.s[1], a.g, &a.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&c.s[0], c.g, NULL, by.now_ms), 0);
	talk(&a.s[1], &c.s[0]);
	assert_int_equal(a.g->resync, PEER_RESYNC_DONE);
	assert_int_equal(counted(&a, 3), 3);
	end_node(&a);
	end_node(&b);
	end_node(&c);
}

/* More changes of these keys than the log has room for. */
static void
overrun_log(struct node *n, uint32_t first, uint32_t keys)
{
	uint64_t from = table_log_end(n->t);

	while (table_log_first(n->t) <= from) {
		for (uint32_t i = 0; i < keys; i++)
			count(n, first + i, 1, NULL);
		(void)table_log_collect(n->t, 1000, &by);
	}
}

/* A peer that has missed more than the log has is sent what it has missed: what it has changed
 * itself stays, also while its change is on the way. */
static void
what_was_missed_replaces_nothing_else(void **st)
{
	struct node a, b, c;
	uint64_t sent;

	(void)st;
	begin_node(&a, "A", 1000, "B", "C");
	begin_node(&b, "B", 1000, "A", NULL);
	begin_node(&c, "C", 1000, "A", NULL);
	connect_nodes(&a, &b);
	assert_int_equal(peer_session_begin(&a.s[1], a.g, &a.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&c.s[0], c.g, NULL, by.now_ms), 0);
	for (uint32_t i = 0; i < 90; i++)
		count(&a, i, 1, "s1");
	talk(&a.s[0], &b.s[0]);
	talk(&a.s[1], &c.s[0]);
	cut(&a, &b);
	for (uint32_t i = 0; i < 20; i++)
		count(&b, i, 7, NULL);
	for (uint32_t i = 20; i < 40; i++)
		count(&c, i, 7, NULL);
	for (uint32_t i = 500; i < 900; i++)
		count(&c, i, 1, NULL);
	talk(&a.s[1], &c.s[0]);
	overrun_log(&a, 60, 30);
	connect_nodes(&a, &b);
	sent = talk_for(&a.s[0], &b.s[0], 1000, SIZE_MAX);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(counted(&b, i), 8);
		assert_int_equal(counted(&a, i), 8);
	}
	for (uint32_t i = 60; i < 90; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	/* C sends its own changes itself. */
	assert_int_equal(counted(&b, 20), 1);
	assert_int_equal(counted(&b, 500), 0);
	assert_true(sent < 2000);
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	cut(&a, &b);
	connect_nodes(&a, &b);
	assert_true(talk_for(&a.s[0], &b.s[0], 1000, SIZE_MAX) < 30);
	end_node(&a);
	end_node(&b);
	end_node(&c);
}

/* Missed changes are sent again from the start after a cut; those made meanwhile follow. */
static void
what_was_missed_is_sent_after_a_cut(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 20000, "B", NULL);
	begin_node(&b, "B", 20000, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	cut(&a, &b);
	overrun_log(&a, 0, 15000);
	for (size_t most = 20; most < 200000; most *= 3) {
		connect_nodes(&a, &b);
		(void)talk_for(&a.s[0], &b.s[0], 1000, most);
		assert_true(a.g->peer[0].cursor[0].acked < table_log_first(a.t));
		count(&a, (uint32_t)most, 1, NULL);
		cut(&a, &b);
	}
	connect_nodes(&a, &b);
	(void)talk_for(&a.s[0], &b.s[0], 1000, 100000);
	count(&a, 1, 1, NULL);
	overrun_log(&a, 14000, 1000);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 15000; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	end_node(&a);
	end_node(&b);
}

/* B has missed the changes of 15000 keys, and A searches for them: B has some, others are in A's
 * output. */
static void
begin_search(struct node *a, struct node *b)
{
	begin_node(a, "A", 20000, "B", NULL);
	begin_node(b, "B", 20000, "A", NULL);
	connect_nodes(a, b);
	talk(&a->s[0], &b->s[0]);
	cut(a, b);
	overrun_log(a, 0, 15000);
	connect_nodes(a, b);
	(void)talk_for(&a->s[0], &b->s[0], 1000, 100000);
	assert_true(a->g->peer[0].cursor[0].search_end != 0);
	assert_true(a->s[0].out_len != 0);
}

/* Moves what is in the output, and nothing back. */
static void
send_output(struct peer_session *from, struct peer_session *to)
{
	struct str out = peer_session_output(from);

	feed(to, out.p, out.len, 1000);
	peer_session_sent(from, out.len, &by);
}

/* Moves all that there is to send, and nothing back. */
static void
send_all(struct peer_session *from, struct peer_session *to)
{
	int has_more;

	do {
		has_more = peer_session_fill(from, &by);
		send_output(from, to);
	} while (has_more);
}

/* A search holds no entry while the socket takes no more: others see no reference. */
static void
a_search_that_waits_holds_no_entry(void **st)
{
	struct table_walk walk = { 0 };
	unsigned int most = UINT_MAX;
	struct table_entry *e;
	uint32_t n = 0;
	struct node a, b;

	(void)st;
	begin_search(&a, &b);
	for (; (e = table_walk(a.t, &walk, &most, &by)) != NULL; n++) {
		assert_int_equal(table_refs(e), 0);
		table_unref(e);
	}
	assert_int_equal(n, 15000);
	end_node(&a);
	end_node(&b);
}

/* A peer changes what is searched for: its values are not sent back, which would replace its next
 * change. */
static void
a_search_returns_no_value_of_the_peer(void **st)
{
	static uint32_t last[15000];
	struct node a, b;

	(void)st;
	begin_search(&a, &b);
	send_output(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 15000; i++)
		count(&b, i, 1, NULL);
	send_all(&b.s[0], &a.s[0]);
	for (uint32_t i = 0; i < 15000; i++) {
		count(&b, i, 1, NULL);
		last[i] = counted(&b, i);
	}
	send_all(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 15000; i++)
		assert_int_equal(counted(&b, i), last[i]);
	count(&a, 1, 1, NULL);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 15000; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	end_node(&a);
	end_node(&b);
}

/* B changes all that A has not sent yet: the search ends without its last message. What A
 * sends is lost with the connection, and is sent again. */
static void
a_search_without_its_last_message_acknowledges_nothing(void **st)
{
	unsigned int most = UINT_MAX;
	struct table_entry *e;
	struct table_walk walk;
	struct node a, b;

	(void)st;
	begin_search(&a, &b);
	walk = a.g->peer[0].cursor[0].walk;
	walk.slot--;
	while ((e = table_walk(a.t, &walk, &most, &by)) != NULL) {
		uint32_t key;

		memcpy(&key, table_entry_key(a.t, e), sizeof(key));
		table_unref(e);
		count(&b, key, 1, NULL);
	}
	send_all(&b.s[0], &a.s[0]);
	while (peer_session_fill(&a.s[0], &by))
		peer_session_sent(&a.s[0], peer_session_output(&a.s[0]).len, &by);
	assert_true(a.g->peer[0].cursor[0].search_end == 0);
	assert_true(a.g->peer[0].cursor[0].acked < table_log_first(a.t));
	cut(&a, &b);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 15000; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	end_node(&a);
	end_node(&b);
}

/* While what was missed is searched for, more changes than the log has room for: they are searched
 * for, too, those of entries that were sent already. */
static void
what_is_missed_in_a_search_is_sent(void **st)
{
	static uint8_t is_there[15000];
	uint32_t n_there = 0;
	struct node a, b;
	uint64_t from;

	(void)st;
	begin_search(&a, &b);
	for (uint32_t i = 0; i < 15000; i++) {
		is_there[i] = counted(&b, i) != 0;
		n_there += is_there[i];
		if (is_there[i])
			count(&a, i, 1, NULL);
	}
	assert_in_range(n_there, 100, 10000);
	(void)table_log_collect(a.t, 20000, &by);
	for (from = table_log_end(a.t); table_log_first(a.t) <= from;) {
		for (uint32_t i = 0; i < 15000; i++)
			if (!is_there[i])
				count(&a, i, 1, NULL);
		(void)table_log_collect(a.t, 20000, &by);
	}
	assert_true(a.g->peer[0].cursor[0].search_end < from);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 15000; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	end_node(&a);
	end_node(&b);
}

/* A peer that has begun again asks for all while it is sent what was missed. */
static void
a_request_ends_the_sending_of_what_was_missed(void **st)
{
	struct node a, b, c;

	(void)st;
	begin_node(&a, "A", 20000, "C", "B");
	begin_node(&c, "C", 20000, "A", NULL);
	connect_nodes(&a, &c);
	for (uint32_t i = 0; i < 100; i++)
		count(&c, i, 3, NULL);
	talk(&a.s[0], &c.s[0]);
	set_clock(by.now_ms + 6000);
	(void)peer_group_tick(a.g, by.now_ms);
	overrun_log(&a, 1000, 15000);
	begin_node(&b, "B", 20000, "A", NULL);
	b.g->resync = PEER_RESYNC_DONE;
	assert_int_equal(peer_session_begin(&a.s[1], a.g, &a.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&b.s[0], b.g, NULL, by.now_ms), 0);
	(void)talk_for(&a.s[1], &b.s[0], 1000, 70000);
	assert_false(a.s[1].lesson.is_on);
	b.g->resync = PEER_RESYNC_WANTED;
	talk(&a.s[1], &b.s[0]);
	assert_int_equal(b.g->resync, PEER_RESYNC_DONE);
	for (uint32_t i = 0; i < 16000; i++)
		assert_int_equal(counted(&b, i), counted(&a, i));
	assert_int_equal(a.g->peer[1].cursor[0].acked, table_log_end(a.t));
	end_node(&a);
	end_node(&b);
	end_node(&c);
}

/* A process that counts before it has all entries replaces none of them, in no other process. */
static void
a_process_sends_nothing_before_it_is_taught(void **st)
{
	struct node a, b, c;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	count(&a, 1, 100, NULL);
	set_clock(by.now_ms + 6000);
	(void)peer_group_tick(a.g, by.now_ms);
	begin_node(&b, "B", 100, "C", "A");
	begin_node(&c, "C", 100, "B", NULL);
	count(&c, 1, 100, NULL);
	count(&c, 2, 100, NULL);
	(void)table_log_collect(c.t, 100, &by);
	c.g->peer[0].cursor[0].acked = table_log_end(c.t);
	c.g->resync = PEER_RESYNC_DONE;
	b.g->peer[0].was_asked = 1;
	count(&b, 1, 1, NULL);
	count(&b, 3, 1, NULL);
	connect_nodes(&b, &c);
	talk(&b.s[0], &c.s[0]);
	assert_int_equal(counted(&c, 1), 100);
	assert_int_equal(counted(&c, 3), 0);
	assert_int_equal(peer_session_begin(&b.s[1], b.g, &b.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&a.s[0], a.g, NULL, by.now_ms), 0);
	talk(&b.s[1], &a.s[0]);
	talk(&b.s[0], &c.s[0]);
	assert_int_equal(b.g->resync, PEER_RESYNC_DONE);
	assert_int_equal(counted(&a, 1), 100);
	assert_int_equal(counted(&b, 1), 100);
	assert_int_equal(counted(&c, 1), 100);
	/* An entry that no other process had is sent. */
	assert_int_equal(counted(&a, 3), 1);
	assert_int_equal(counted(&c, 3), 1);
	count(&b, 1, 1, NULL);
	talk(&b.s[1], &a.s[0]);
	talk(&b.s[0], &c.s[0]);
	assert_int_equal(counted(&a, 1), 101);
	assert_int_equal(counted(&c, 1), 101);
	end_node(&a);
	end_node(&b);
	end_node(&c);
}

/* A peer that was given up teaches later: what has changed here since is newer. */
static void
a_late_lesson_replaces_no_own_change(void **st)
{
	struct node a, b;
	struct str out;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	for (uint32_t i = 0; i < 10; i++)
		count(&a, i, 5, NULL);
	(void)table_log_collect(a.t, 100, &by);
	a.g->peer[0].cursor[0].acked = table_log_end(a.t);
	a.g->resync = PEER_RESYNC_DONE;
	begin_node(&b, "B", 100, "A", NULL);
	connect_nodes(&b, &a);
	while (b.g->resync != PEER_RESYNC_ASKED)
		(void)talk_for(&b.s[0], &a.s[0], 1000, 1);
	set_clock(by.now_ms + PEER_RESYNC_MS);
	assert_true(peer_group_tick(b.g, by.now_ms) == UINT64_MAX);
	/* The lesson is on its way. */
	out = peer_session_output(&b.s[0]);
	feed(&a.s[0], out.p, out.len, 1000);
	peer_session_sent(&b.s[0], out.len, &by);
	assert_int_equal(peer_session_fill(&a.s[0], &by), 0);
	assert_true(a.s[0].lesson.is_sent);
	count(&b, 1, 50, NULL);
	b.s[0].heard_ms = a.s[0].heard_ms = by.now_ms;
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(counted(&b, 1), 50);
	assert_int_equal(counted(&a, 1), 50);
	assert_int_equal(counted(&b, 2), 5);
	end_node(&a);
	end_node(&b);
}

/* A peer ends each connection when it is asked. It is asked twice; then others are, and own changes
 * wait no longer. */
static void
a_peer_that_cuts_lessons_is_asked_twice(void **st)
{
	struct node a, b, c;

	(void)st;
	begin_node(&a, "A", 100, "B", "C");
	begin_node(&b, "B", 100, "A", NULL);
	begin_node(&c, "C", 100, "A", NULL);
	count(&a, 7, 1, NULL);
	for (unsigned int i = 0; i < 4; i++) {
		connect_nodes(&a, &b);
		while (a.s[0].state != PEER_UP)
			(void)talk_for(&a.s[0], &b.s[0], 1000, 1);
		(void)peer_session_fill(&a.s[0], &by);
		assert_int_equal(a.g->resync, i < 2 ? PEER_RESYNC_ASKED : PEER_RESYNC_WANTED);
		cut(&a, &b);
		assert_int_equal(a.g->resync, PEER_RESYNC_WANTED);
		set_clock(by.now_ms + 2000);
		(void)peer_group_tick(a.g, by.now_ms);
	}
	assert_int_equal(peer_session_begin(&a.s[1], a.g, &a.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&c.s[0], c.g, NULL, by.now_ms), 0);
	talk(&a.s[1], &c.s[0]);
	assert_int_equal(a.g->resync, PEER_RESYNC_DONE);
	assert_int_equal(counted(&c, 7), 1);
	end_node(&a);
	end_node(&b);
	end_node(&c);
}

/* Nobody else can be asked than a peer that ends each connection. */
static void
a_peer_that_cuts_lessons_is_not_waited_for(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(a.g->resync, PEER_RESYNC_WANTED);
		connect_nodes(&a, &b);
		while (a.g->resync != PEER_RESYNC_ASKED)
			(void)talk_for(&a.s[0], &b.s[0], 1000, 1);
		cut(&a, &b);
	}
	assert_int_equal(a.g->resync, PEER_RESYNC_DONE);
	end_node(&a);
	end_node(&b);
}

/* No peer that can be asked has all entries: the process does not wait for one. */
static void
peers_that_begin_together_wait_for_nobody(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(a.g->resync, PEER_RESYNC_DONE);
	assert_int_equal(b.g->resync, PEER_RESYNC_DONE);
	assert_true(peer_group_tick(a.g, by.now_ms) == UINT64_MAX);
	end_node(&a);
	end_node(&b);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(a_new_process_is_taught),
		TEST(a_lesson_begins_again_after_a_cut),
		TEST(a_lesson_ends_with_its_connection),
		TEST(a_peer_that_was_away_for_long_is_taught),
		TEST(a_partial_answer_has_another_asked),
		TEST(what_was_missed_replaces_nothing_else),
		TEST(what_was_missed_is_sent_after_a_cut),
		TEST(a_search_that_waits_holds_no_entry),
		TEST(a_search_returns_no_value_of_the_peer),
		TEST(a_search_without_its_last_message_acknowledges_nothing),
		TEST(what_is_missed_in_a_search_is_sent),
		TEST(a_request_ends_the_sending_of_what_was_missed),
		TEST(a_process_sends_nothing_before_it_is_taught),
		TEST(a_late_lesson_replaces_no_own_change),
		TEST(a_peer_that_cuts_lessons_is_asked_twice),
		TEST(a_peer_that_cuts_lessons_is_not_waited_for),
		TEST(peers_that_begin_together_wait_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
