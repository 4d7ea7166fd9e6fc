/* Fifty processes of one group in virtual time: changes, connections that are reset with what was
 * on its way, and a network in two parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/sys.h"
#include "peers/peer_out.h"
#include "peers/peer_session.h"
#include "table/table_log.h"
#include "unit/test.h"

enum {
	NODES = 50,
	KEYS = 500,
	STEP_MS = 20,
	AGAIN_MS = 200,     /* from a reset to the next connection */
	SETTLE_MS = 2000,   /* from the last change to equal tables */
	LOST_PCT = 10       /* of what is sent is lost, with its connection */
};

struct node {
	char name[8];
	struct peer_group *g;
	struct table *t;
	_Atomic int news;
	struct peer_session s[NODES]; /* with each other one */
};

/* The connection of two nodes, the first of which connects. */
struct line {
	int is_up;
	uint64_t again_ms;
};

static struct sys sys;
static struct table_caller by = { .sys = &sys };
static struct node node[NODES];
static struct line line[NODES][NODES];
static uint32_t truth[KEYS]; /* what the owner of each key has counted */
static uint64_t random_state, bytes, transfers, resets;
static int is_parted;
static int adds_up; /* the tables have a part for each node */
static const struct node *idle; /* its keys are not counted */

static uint32_t
draw(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void
note_replaced(struct peer_session *s)
{
	peer_session_end(s);
}

static void
begin_node(struct node *n)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = KEYS,
		.expire_ms = 3600000, .brates_factor = 1 };

	c.store[TABLE_GPC0].n = 1;
	n->g = peer_group_new("group", n->name);
	n->t = table_new("t", &c, &keyhash_known);
	assert_true(n->g && n->t);
	n->g->on_replaced = note_replaced;
	assert_int_equal(table_share(n->t, &n->news), 0);
	if (adds_up)
		assert_int_equal(table_aggregate(n->t, NODES - 1, 1), 0);
	assert_int_equal(peer_group_add_table(n->g, n->t, "t"), 0);
	for (int i = 0; i < NODES; i++)
		if (&node[i] != n)
			assert_int_equal(peer_group_add_peer(n->g, node[i].name, 0), 0);
	assert_int_equal(peer_group_start(n->g, by.now_ms), 0);
}

static uint32_t
value_of(struct node *n, uint32_t key)
{
	struct table_key k;
	struct table_entry *e;
	uint64_t v;

	assert_int_equal(table_key_int(n->t, &k, key), 0);
	e = table_find(n->t, &k, &by);
	if (!e)
		return 0;
	assert_int_equal(table_read(n->t, e, TABLE_GPC0, 0, &by, &v), 0);
	table_unref(e);
	return (uint32_t)v;
}

/* Each key has one node that counts it, as a client has while its address is on one. */
static void
change(uint32_t key)
{
	struct node *n = &node[key % NODES];
	struct table_key k;
	struct table_entry *e;

	if (n == idle)
		return;
	assert_int_equal(table_key_int(n->t, &k, key), 0);
	e = table_get(n->t, &k, &by);
	assert_non_null(e);
	assert_int_equal(table_add(n->t, e, TABLE_GPC0, 0, &by, 1), 0);
	table_unref(e);
	truth[key]++;
}

static void
hang_up(int i, int j)
{
	if (node[i].s[j].group)
		peer_session_end(&node[i].s[j]);
	if (node[j].s[i].group)
		peer_session_end(&node[j].s[i]);
	line[i][j].is_up = 0;
	line[i][j].again_ms = by.now_ms + AGAIN_MS;
}

/* Sends the output of one side to the other. 0: it was lost. */
static int
carry(struct peer_session *from, struct peer_session *to, uint32_t lost_pct)
{
	int has_more;

	do {
		struct str out;
		size_t room, n;
		uint8_t *p;

		has_more = peer_session_fill(from, &by);
		out = peer_session_output(from);
		if (!out.len)
			break;
		bytes += out.len;
		transfers++;
		if (draw(100) < lost_pct)
			return 0;
		p = peer_session_room(to, &room);
		n = MIN(room, out.len);
		if (!n)
			return 0;
		memcpy(p, out.p, n);
		peer_session_receive(to, n, &by);
		peer_session_sent(from, n, &by);
		has_more = 1;
	} while (has_more);
	return 1;
}

/* One step of the connection of two nodes. */
static void
talk(int i, int j, uint32_t lost_pct)
{
	struct line *l = &line[i][j];
	struct peer_session *a = &node[i].s[j], *b = &node[j].s[i];

	if (is_parted && i < NODES / 2 && j >= NODES / 2) {
		if (l->is_up)
			hang_up(i, j);
		return;
	}
	if (!l->is_up && by.now_ms >= l->again_ms) {
		assert_int_equal(
			peer_session_begin(a, node[i].g, &node[i].g->peer[j - 1], by.now_ms), 0);
		assert_int_equal(peer_session_begin(b, node[j].g, NULL, by.now_ms), 0);
		l->is_up = 1;
	}
	if (!l->is_up)
		return;
	if (!carry(a, b, lost_pct) || !carry(b, a, lost_pct)) {
		resets++;
		hang_up(i, j);
	} else if (!a->group || !b->group || peer_session_is_over(a) || peer_session_is_over(b)) {
		hang_up(i, j);
	}
}

/* Lets so much time pass, with this many changes in each step. */
static void
pass(uint64_t ms, unsigned int changes, uint32_t lost_pct)
{
	for (uint64_t end = by.now_ms + ms; by.now_ms < end; by.now_ms += STEP_MS) {
		for (unsigned int n = 0; n < changes; n++)
			change(draw(KEYS));
		for (int i = 0; i < NODES; i++) {
			(void)peer_group_tick(node[i].g, by.now_ms);
			for (int j = i + 1; j < NODES; j++)
				talk(i, j, lost_pct);
		}
	}
}

/* Entries of nodes whose value is not the owner's. */
static unsigned int
differences(void)
{
	unsigned int n = 0;

	for (int i = 0; i < NODES; i++)
		for (uint32_t key = 0; key < KEYS; key++)
			n += value_of(&node[i], key) != truth[key];
	return n;
}

static int
begin(int sums)
{
	sys_init(&sys, &sys_linux, NULL);
	by.now_ms = 1000000;
	random_state = 1;
	bytes = transfers = resets = 0;
	is_parted = 0;
	adds_up = sums;
	idle = NULL;
	memset(truth, 0, sizeof(truth));
	memset(line, 0, sizeof(line));
	memset(node, 0, sizeof(node));
	for (int i = 0; i < NODES; i++)
		(void)snprintf(node[i].name, sizeof(node[i].name), "n%u", (unsigned int)i % 100);
	for (int i = 0; i < NODES; i++)
		begin_node(&node[i]);
	/* All have met. */
	pass(2000, 0, 0);
	return 0;
}

static int
setup(void **st)
{
	(void)st;
	return begin(0);
}

static int
setup_of_sums(void **st)
{
	(void)st;
	return begin(1);
}

static int
teardown(void **st)
{
	(void)st;
	for (int i = 0; i < NODES; i++) {
		for (int j = i + 1; j < NODES; j++)
			hang_up(i, j);
		peer_group_free(node[i].g);
		table_free(node[i].t);
	}
	return 0;
}

static void
the_cost_of_a_change(void **st)
{
	uint64_t before, sends;
	double each, changes = 2000.0 / STEP_MS * 10 * (NODES - 1);

	(void)st;
	pass(1000, 10, 0);
	assert_int_equal(differences(), 0);
	before = bytes;
	sends = transfers;
	pass(2000, 10, 0);
	each = (double)(bytes - before) / changes;
	print_message("%.1f bytes in %.2f sends for each change and node%s, acknowledged\n", each,
		(double)(transfers - sends) / changes, adds_up ? " of tables that add up" : "");
	assert_true(each > 5 && each < 40);
}

static void
resets_lose_nothing(void **st)
{
	(void)st;
	pass(4000, 10, LOST_PCT);
	pass(SETTLE_MS, 0, LOST_PCT);
	print_message("%llu of %llu transfers lost\n", (unsigned long long)resets,
		(unsigned long long)transfers);
	assert_true(resets > 1000);
	assert_int_equal(differences(), 0);
}

static void
two_parts_become_one(void **st)
{
	(void)st;
	pass(1000, 10, LOST_PCT);
	is_parted = 1;
	pass(3000, 10, LOST_PCT);
	assert_true(differences() > 0);
	is_parted = 0;
	pass(SETTLE_MS, 0, LOST_PCT);
	assert_int_equal(differences(), 0);
}

/* Ends a node, and begins it with an empty table. */
static void
restart(int i)
{
	for (int j = 0; j < NODES; j++)
		if (j != i)
			hang_up(MIN(i, j), MAX(i, j));
	peer_group_free(node[i].g);
	table_free(node[i].t);
	begin_node(&node[i]);
}

/* A node is taught by one that misses changes of others, which these have sent already. It counts
 * again when it has been taught. */
static void
a_lesson_replaces_no_newer_values(void **st)
{
	(void)st;
	for (int i = 0; i < NODES; i += 5) {
		pass(400, 10, LOST_PCT);
		/* The others have its last changes. */
		pass(1000, 0, 0);
		restart(i);
		idle = &node[i];
		while (node[i].g->resync != PEER_RESYNC_DONE)
			pass(100, 10, LOST_PCT);
		idle = NULL;
	}
	pass(SETTLE_MS, 0, LOST_PCT);
	assert_int_equal(differences(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_cost_of_a_change, setup, teardown),
		cmocka_unit_test_setup_teardown(the_cost_of_a_change, setup_of_sums, teardown),
		cmocka_unit_test_setup_teardown(resets_lose_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(resets_lose_nothing, setup_of_sums, teardown),
		cmocka_unit_test_setup_teardown(two_parts_become_one, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_lesson_replaces_no_newer_values, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
