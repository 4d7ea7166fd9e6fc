/* Peers that talk to each other: changes, handshakes, and what is no message. */
#include "peers_rig.h"

static void
changes_reach_the_other(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 1000, "B", NULL);
	begin_node(&b, "B", 1000, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(a.s[0].state, PEER_UP);
	assert_int_equal(b.s[0].state, PEER_UP);
	count(&a, 1, 5, "s1");
	count(&b, 2, 7, NULL);
	assert_int_equal(a.news, 1);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(counted(&b, 1), 5);
	assert_int_equal(counted(&a, 2), 7);
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	assert_int_equal(b.g->peer[0].cursor[0].acked, table_log_end(b.t));
	count(&b, 1, 2, NULL);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(counted(&a, 1), 7);
	end_node(&a);
	end_node(&b);
}

/* Changes that were not acknowledged are sent again over the next connection, and no others. */
static void
the_rest_follows_after_a_cut(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 1000, "B", NULL);
	begin_node(&b, "B", 1000, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 100; i++)
		count(&a, i, 1 + i, "s1");
	(void)talk_for(&a.s[0], &b.s[0], 1000, 300);
	cut(&a, &b);
	for (uint32_t i = 100; i < 200; i++)
		count(&a, i, 1 + i, "s2");
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(counted(&b, i), i + 1);
	cut(&a, &b);
	connect_nodes(&a, &b);
	assert_true(talk_for(&a.s[0], &b.s[0], 1000, SIZE_MAX) < 30);
	end_node(&a);
	end_node(&b);
}

/* Changes of it that are missed are no reason to be taught, either. */
static void
a_table_that_only_receives_sends_nothing(void **st)
{
	struct node a, b;

	(void)st;
	recv_only = 1;
	begin_node(&a, "A", 100, "B", NULL);
	recv_only = 0;
	begin_node(&b, "B", 100, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	count(&b, 1000, 7, NULL);
	for (uint32_t i = 0; i < 300; i++) {
		count(&a, i % 90, 1, NULL);
		if (i % 90 == 89)
			(void)table_log_collect(a.t, 1000, &by);
	}
	assert_true(table_log_first(a.t) > a.g->peer[0].cursor[0].next);
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(counted(&a, 1000), 7);
	assert_int_equal(table_used(b.t), 1);
	assert_false(a.g->peer[0].needs_teaching || a.s[0].lesson.is_on);
	end_node(&a);
	end_node(&b);
}

/* Each key is sent to the peer of its shard, and to the one without a shard: when it changes, and
 * when a peer is taught. What is not for a peer needs no acknowledgement. */
static void
keys_are_sent_to_the_peer_of_their_shard(void **st)
{
	struct node a, b, c;

	(void)st;
	begin_node(&a, "A", 100, "B", "C");
	begin_node(&b, "B", 100, "A", NULL);
	begin_node(&c, "C", 100, "A", NULL);
	a.g->shards = 2;
	a.g->peer[0].shard = 2;
	connect_nodes(&a, &b);
	assert_int_equal(peer_session_begin(&a.s[1], a.g, &a.g->peer[1], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&c.s[0], c.g, NULL, by.now_ms), 0);
	for (uint32_t i = 0; i < 80; i++) {
		count(&a, i, 1, NULL);
		talk(&a.s[0], &b.s[0]);
		talk(&a.s[1], &c.s[0]);
	}
	assert_int_equal(table_used(c.t), 80);
	assert_true(table_used(b.t) > 25 && table_used(b.t) < 55);
	/* By XXH64 of the key and of the table's name. */
	assert_int_equal(counted(&b, 0), 1);
	assert_int_equal(counted(&b, 3), 0);
	assert_int_equal(a.g->peer[0].cursor[0].acked, table_log_end(a.t));
	cut(&a, &b);
	end_node(&b);
	begin_node(&b, "B", 100, "A", NULL);
	a.g->resync = PEER_RESYNC_DONE;
	connect_nodes(&b, &a);
	talk(&b.s[0], &a.s[0]);
	assert_int_equal(b.g->resync, PEER_RESYNC_DONE);
	assert_true(table_used(b.t) > 25 && table_used(b.t) < 55);
	assert_int_equal(counted(&b, 3), 0);
	end_node(&a);
	end_node(&b);
	end_node(&c);
}

static void
silence_ends_and_heartbeats_keep(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	for (int i = 0; i < 20; i++) {
		uint64_t next = MIN(peer_session_deadline(&a.s[0]),
			peer_session_deadline(&b.s[0]));

		assert_true(next > by.now_ms);
		set_clock(next);
		talk(&a.s[0], &b.s[0]);
		assert_int_equal(a.s[0].state, PEER_UP);
		assert_int_equal(b.s[0].state, PEER_UP);
	}
	assert_true(a.g->peer[0].tx_heartbeats >= 10);
	assert_true(a.g->peer[0].rx_heartbeats >= 10);
	/* Nothing arrives any more. */
	for (int i = 0; i < 2; i++) {
		set_clock(peer_session_deadline(&a.s[0]));
		(void)peer_session_fill(&a.s[0], &by);
		peer_session_sent(&a.s[0], peer_session_output(&a.s[0]).len, &by);
	}
	assert_true(peer_session_is_over(&a.s[0]));
	assert_int_equal(a.g->peer[0].silences, 1);
	end_node(&a);
	end_node(&b);
}

/* The answers to a hello. */
static void
hellos_are_verified(void **st)
{
	static const struct {
		const char *hello, *answer;
	} t[] = {
		{ "HAProxyS 2.1\nA\nB 1 1\n", "200\n" },
		{ "HAProxyS 2.0\nA\nB 1 0\n", "200\n" },
		{ "HAProxyS 3.0\nA\nB 1 1\n", "502\n" },
		{ "HAProxyS 2\nA\nB 1 1\n", "502\n" },
		{ "HAProxyS 2.1\nX\nB 1 1\n", "503\n" },
		{ "HAProxyS 2.1\nA\nX 1 1\n", "504\n" },
		{ "HAProxyS 2.1\nA\nA 1 1\n", "504\n" },
		{ "HAProxyS 2.1\nA\nB\n", "501\n" },
		{ "GET / HTTP/1.1\nHost: a\nB 1 1\n", "501\n" },
		{ "\n\n\n", "501\n" },
		{ "HAProxyS 2.1\nA\nB 1", "" },
	};

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(t); i++)
		for (size_t step = 1; step < 100; step += 98) {
			struct node a;
			struct str out;

			begin_node(&a, "A", 100, "B", NULL);
			assert_int_equal(peer_session_begin(&a.s[0], a.g, NULL, by.now_ms), 0);
			feed(&a.s[0], t[i].hello, strlen(t[i].hello), step);
			out = peer_session_output(&a.s[0]);
			assert_true(str_is(out, str_of(t[i].answer)));
			assert_int_equal(a.s[0].state, !*t[i].answer ? PEER_HELLO_IN
					: t[i].answer[0] == '2'	     ? PEER_UP
								     : PEER_ENDING);
			end_node(&a);
		}
}

static void
an_endless_hello_is_refused(void **st)
{
	struct node a;
	char text[2000];

	(void)st;
	memset(text, 'a', sizeof(text));
	begin_node(&a, "A", 100, "B", NULL);
	assert_int_equal(peer_session_begin(&a.s[0], a.g, NULL, by.now_ms), 0);
	feed(&a.s[0], text, sizeof(text), 100);
	assert_true(str_is(peer_session_output(&a.s[0]), STR("501\n")));
	end_node(&a);
}

/* A handshake has 5 s, however many bytes come in them. */
static void
a_slow_hello_ends(void **st)
{
	struct node a;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	assert_int_equal(peer_session_begin(&a.s[0], a.g, NULL, by.now_ms), 0);
	for (int i = 0; i < 4; i++) {
		set_clock(by.now_ms + 1000);
		feed(&a.s[0], "H", 1, 1);
		assert_int_equal(peer_session_fill(&a.s[0], &by), 0);
		assert_int_equal(a.s[0].state, PEER_HELLO_IN);
	}
	set_clock(by.now_ms + 1000);
	assert_true(peer_session_deadline(&a.s[0]) == by.now_ms);
	assert_int_equal(peer_session_fill(&a.s[0], &by), 0);
	assert_true(peer_session_is_over(&a.s[0]));
	end_node(&a);
}

/* A peer of an older version is greeted with that the next time. */
static void
the_version_is_lowered(void **st)
{
	struct node a;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	for (int i = 0; i < 3; i++) {
		char want[64];

		assert_int_equal(peer_session_begin(&a.s[0], a.g, &a.g->peer[0], by.now_ms), 0);
		(void)snprintf(want, sizeof(want), "HAProxyS 2.%d\nB\nA 42 1\n", i != 1);
		assert_true(str_is(peer_session_output(&a.s[0]), str_of(want)));
		peer_session_sent(&a.s[0], strlen(want), &by);
		feed(&a.s[0], "502\n", 4, 1);
		assert_true(peer_session_is_over(&a.s[0]));
		assert_int_equal(a.g->peer[0].status, PEER_STATUS_VERSION);
		peer_session_end(&a.s[0]);
	}
	end_node(&a);
}

/* In 2.0 there are no names: the last type of data is gpc1_rate. */
static void
version_2_0_has_no_names(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	a.g->peer[0].minor = 0;
	connect_nodes(&a, &b);
	count(&a, 1, 5, "s1");
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(counted(&b, 1), 5);
	assert_int_equal(a.s[0].sent.turn, 0);
	end_node(&a);
	end_node(&b);
}

/* Both connect at the same time: one connection stays. */
static void
of_two_connections_one_stays(void **st)
{
	struct node a, b;
	struct str out;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	/* s[0]: the one that it has opened. */
	for (int i = 0; i < 2; i++) {
		struct node *n = i ? &b : &a;

		assert_int_equal(peer_session_begin(&n->s[0], n->g, &n->g->peer[0], by.now_ms), 0);
		assert_int_equal(peer_session_begin(&n->s[1], n->g, NULL, by.now_ms), 0);
	}
	out = peer_session_output(&b.s[0]);
	feed(&a.s[1], out.p, out.len, 100);
	assert_true(str_is(peer_session_output(&a.s[1]), STR("300\n")));
	out = peer_session_output(&a.s[0]);
	feed(&b.s[1], out.p, out.len, 100);
	assert_ptr_equal(replaced, &b.s[0]);
	assert_true(str_is(peer_session_output(&b.s[1]), STR("200\n")));
	peer_session_sent(&a.s[0], out.len, &by);
	talk(&b.s[1], &a.s[0]);
	count(&a, 1, 5, NULL);
	talk(&b.s[1], &a.s[0]);
	assert_int_equal(counted(&b, 1), 5);
	assert_int_equal(a.g->peer[0].collisions, 1);
	assert_int_equal(b.g->peer[0].collisions, 1);
	end_node(&a);
	end_node(&b);
}

/* A peer that has restarted connects again before its old connection is found dead. */
static void
a_later_connection_replaces_an_old_one(void **st)
{
	struct node a, b;

	(void)st;
	begin_node(&a, "A", 100, "B", NULL);
	begin_node(&b, "B", 100, "A", NULL);
	connect_nodes(&b, &a);
	talk(&b.s[0], &a.s[0]);
	assert_int_equal(peer_session_begin(&b.s[1], b.g, &b.g->peer[0], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&a.s[1], a.g, NULL, by.now_ms), 0);
	talk(&b.s[1], &a.s[1]);
	assert_ptr_equal(replaced, &a.s[0]);
	assert_ptr_equal(a.g->peer[0].session, &a.s[1]);
	count(&a, 1, 5, NULL);
	talk(&b.s[1], &a.s[1]);
	assert_int_equal(counted(&b, 1), 5);
	end_node(&a);
	end_node(&b);
}

/* Messages that end a session, and those that are skipped; the answer, or NULL: none. */
static void
messages_are_verified(void **st)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *answer;
	} t[] = {
#define BYTES(text) text, sizeof(text) - 1
		{ BYTES("\0\0"), NULL },
		{ BYTES("\7\5"), NULL },
		{ BYTES("\xff\x90\3abc"), NULL },
		{ BYTES("\12\x99\3abc"), NULL },
		{ BYTES("\12\x80\5abcde"), NULL },         /* no table was defined */
		{ BYTES("\12\x80\3abc"), "\1" },           /* a number has four bytes */
		{ BYTES("\12\x82\3abc"), "\1" },
		{ BYTES("\12\x83\0"), "\1" },
		{ BYTES("\12\x84\1\1"), "\1" },
		{ BYTES("\12\x80\xf0\xf0\xff\xff\1"), "\1\1" }, /* too long */
		{ BYTES("\12\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "\1" },
		/* An acknowledgement of what was never sent. */
		{ BYTES("\12\x84\5\1\0\0\1\0"), NULL },
		{ BYTES("\12\x84\5\7\0\0\0\1"), NULL },
	};

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(t); i++) {
		struct node a;
		struct str out;
		size_t answer = t[i].answer ? 2 : 0;

		begin_node(&a, "A", 100, "B", NULL);
		assert_int_equal(peer_session_begin(&a.s[0], a.g, NULL, by.now_ms), 0);
		feed(&a.s[0], "HAProxyS 2.1\nA\nB 1 1\n", 21, 100);
		feed(&a.s[0], t[i].bytes, t[i].n, 1);
		out = peer_session_output(&a.s[0]);
		assert_int_equal(out.len, 4 + answer);
		assert_int_equal(a.s[0].state, answer ? PEER_ENDING : PEER_UP);
		if (answer)
			assert_memory_equal(out.p + 4, t[i].answer, 2);
		assert_int_equal(a.g->peer[0].errors, answer != 0);
		assert_int_equal(a.g->peer[0].cursor[0].acked, 1);
		end_node(&a);
	}
}

/* A table that is not known here, and one with other keys, cost nothing. */
static void
tables_that_are_not_known_are_skipped(void **st)
{
	struct node a, b;
	struct table *other, *alien;

	(void)st;
	begin_node(&a, "A", 100, NULL, NULL);
	begin_node(&b, "B", 100, "A", NULL);
	assert_int_equal(peer_group_add_peer(a.g, "B", 0), 0);
	other = make_table("other", 100);
	alien = make_table("alien", 100);
	assert_int_equal(table_share(other, &a.news), 0);
	assert_int_equal(table_share(alien, &a.news), 0);
	assert_int_equal(peer_group_add_table(a.g, other, "other"), 0);
	assert_int_equal(peer_group_add_table(a.g, alien, "t"), 0);
	assert_int_equal(peer_group_start(a.g, by.now_ms), 0);
	connect_nodes(&a, &b);
	talk(&a.s[0], &b.s[0]);
	{
		struct node n = { .t = other };

		count(&n, 1, 5, "s1");
	}
	count(&a, 2, 6, "s1");
	talk(&a.s[0], &b.s[0]);
	assert_int_equal(b.s[0].state, PEER_UP);
	assert_int_equal(counted(&b, 1), 0);
	assert_int_equal(counted(&b, 2), 6);
	peer_session_end(&a.s[0]);
	a.s[0].group = NULL;
	table_free(other);
	table_free(alien);
	end_node(&a);
	end_node(&b);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(changes_reach_the_other),
		TEST(the_rest_follows_after_a_cut),
		TEST(a_table_that_only_receives_sends_nothing),
		TEST(keys_are_sent_to_the_peer_of_their_shard),
		TEST(silence_ends_and_heartbeats_keep),
		TEST(hellos_are_verified),
		TEST(an_endless_hello_is_refused),
		TEST(a_slow_hello_ends),
		TEST(the_version_is_lowered),
		TEST(version_2_0_has_no_names),
		TEST(of_two_connections_one_stays),
		TEST(a_later_connection_replaces_an_old_one),
		TEST(messages_are_verified),
		TEST(tables_that_are_not_known_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
