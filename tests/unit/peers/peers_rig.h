/* Processes of a group: sessions over a pipe that is cut, in virtual time. */
#ifndef TACIT_TESTS_UNIT_PEERS_PEERS_RIG_H
#define TACIT_TESTS_UNIT_PEERS_PEERS_RIG_H

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/keyhash.h"
#include "base/sys.h"
#include "peers/peer_out.h"
#include "peers/peer_session.h"
#include "table/table_log.h"
#include "unit/test.h"

static struct sys sys;
static struct table_caller by = { .sys = &sys };
static struct table_caller as_peer = { .sys = &sys, .is_peer = 1 };

/* A process: its group, one table, and its sessions with up to two others. */
struct node {
	struct peer_group *g;
	struct table *t;
	_Atomic int news;
	struct peer_session s[2];
};

static struct peer_session *replaced;

static inline void
note_replaced(struct peer_session *s)
{
	replaced = s;
	peer_session_end(s);
}

/* Tables that are made next have recv-only. */
static int recv_only;

static inline struct table *
make_table(const char *name, uint32_t size)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = size,
		.expire_ms = 60000, .brates_factor = 1, .recv_only = (uint8_t)recv_only };
	struct table *t;

	c.store[TABLE_GPC0].n = 1;
	c.store[TABLE_SERVER_KEY].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].n = 1;
	c.store[TABLE_HTTP_REQ_RATE].period_ms = 10000;
	t = table_new(name, &c, &keyhash_known);
	assert_non_null(t);
	return t;
}

static inline void
set_clock(uint64_t ms)
{
	by.now_ms = as_peer.now_ms = ms;
}

/* The first half of begin_node(): the table. */
static inline void
begin_tables(struct node *n, const char *name, uint32_t size)
{
	memset(n, 0, sizeof(*n));
	n->g = peer_group_new("group", name);
	assert_non_null(n->g);
	n->g->pid = 42;
	n->g->on_replaced = note_replaced;
	n->t = make_table("t", size);
	assert_int_equal(table_share(n->t, &n->news), 0);
	assert_int_equal(peer_group_add_table(n->g, n->t, "t"), 0);
}

/* The second half: the peers. */
static inline void
begin_group(struct node *n, const char *a, const char *b)
{
	if (a)
		assert_int_equal(peer_group_add_peer(n->g, a, 0), 0);
	if (b)
		assert_int_equal(peer_group_add_peer(n->g, b, 0), 0);
	assert_int_equal(peer_group_start(n->g, by.now_ms), 0);
}

/* A node of this name with one table, which knows these others. */
static inline void
begin_node(struct node *n, const char *name, uint32_t size, const char *a, const char *b)
{
	begin_tables(n, name, size);
	begin_group(n, a, b);
}

static inline void
end_node(struct node *n)
{
	for (int i = 0; i < 2; i++)
		if (n->s[i].group)
			peer_session_end(&n->s[i]);
	peer_group_free(n->g);
	table_free(n->t);
}

static inline int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	set_clock(1000000);
	replaced = NULL;
	return 0;
}

static inline void
count(struct node *n, uint32_t key, uint32_t v, const char *server)
{
	struct table_key k;
	struct table_entry *e;

	assert_int_equal(table_key_int(n->t, &k, key), 0);
	e = table_get(n->t, &k, &by);
	assert_non_null(e);
	assert_int_equal(table_add(n->t, e, TABLE_GPC0, 0, &by, v), 0);
	assert_int_equal(table_add(n->t, e, TABLE_HTTP_REQ_RATE, 0, &by, v), 0);
	if (server)
		assert_int_equal(table_set_server_key(n->t, e, server, &by), 0);
	table_unref(e);
}

static inline uint32_t
counted(struct node *n, uint32_t key)
{
	struct table_key k;
	struct table_entry *e;
	uint64_t v, rate;

	assert_int_equal(table_key_int(n->t, &k, key), 0);
	e = table_find(n->t, &k, &by);
	if (!e)
		return 0;
	assert_int_equal(table_read(n->t, e, TABLE_GPC0, 0, &by, &v), 0);
	assert_int_equal(table_read(n->t, e, TABLE_HTTP_REQ_RATE, 0, &by, &rate), 0);
	assert_int_equal(v, rate);
	table_unref(e);
	return (uint32_t)v;
}

/* The time that an entry has left. */
static inline uint32_t
time_left(struct node *n, uint32_t key)
{
	struct table_key k;
	struct table_entry *e;
	uint32_t left;

	assert_int_equal(table_key_int(n->t, &k, key), 0);
	e = table_find(n->t, &k, &by);
	assert_non_null(e);
	left = table_expires_in(n->t, e, &by);
	table_unref(e);
	return left;
}

/* Receives these bytes, in pieces of at most `step`. */
static inline void
feed(struct peer_session *s, const void *p, size_t n, size_t step)
{
	const char *from = p;

	while (n) {
		size_t room, piece = MIN(n, step);
		uint8_t *to = peer_session_room(s, &room);

		piece = MIN(piece, room);
		if (!piece)
			return;
		memcpy(to, from, piece);
		peer_session_receive(s, piece, &by);
		from += piece;
		n -= piece;
	}
}

/* Moves bytes both ways until there are none; at most `most` from a to b. Returns how many a sent.
 */
static inline size_t
talk_for(struct peer_session *a, struct peer_session *b, size_t step, size_t most)
{
	size_t moved, all = 0;

	do {
		struct str out;
		int has_more;

		has_more = peer_session_fill(a, &by);
		out = peer_session_output(a);
		moved = MIN(out.len, most - all);
		all += moved;
		feed(b, out.p, moved, step);
		peer_session_sent(a, moved, &by);
		has_more |= peer_session_fill(b, &by);
		out = peer_session_output(b);
		moved += out.len;
		feed(a, out.p, out.len, step);
		peer_session_sent(b, out.len, &by);
		moved += (size_t)has_more;
	} while (moved && all < most);
	return all;
}

static inline void
talk(struct peer_session *a, struct peer_session *b)
{
	(void)talk_for(a, b, 1000, SIZE_MAX);
}

/* Connects peer 0 of a with peer 0 of b. */
static inline void
connect_nodes(struct node *a, struct node *b)
{
	assert_int_equal(peer_session_begin(&a->s[0], a->g, &a->g->peer[0], by.now_ms), 0);
	assert_int_equal(peer_session_begin(&b->s[0], b->g, NULL, by.now_ms), 0);
}

static inline void
cut(struct node *a, struct node *b)
{
	peer_session_end(&a->s[0]);
	peer_session_end(&b->s[0]);
}

#endif
