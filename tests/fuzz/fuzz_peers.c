/*
 * A process that was connected to by a peer, or that has connected: the first byte chooses, the
 * others are what the peer sends. However they are cut the same is learned and answered, and no
 * memory is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/sys.h"
#include "fuzz/head.h"
#include "peers/peer_out.h"
#include "peers/peer_session.h"

#define OUT_MAX 262144

struct node {
	struct sys sys;
	struct peer_group *g;
	struct table *t[4];
	_Atomic int news;
	struct peer_session s;
	size_t n_out;
	char out[OUT_MAX];
};

static struct node whole, pieces;

static void
on_replaced(struct peer_session *s)
{
	peer_session_end(s);
}

static struct table *
new_table(struct node *n, const char *name, enum table_type type, uint32_t key_len)
{
	struct table_conf c = { .type = type, .key_len = key_len, .size = 64, .expire_ms = 60000,
		.brates_factor = 1 };
	struct table *t;

	c.store[TABLE_SERVER_ID].n = c.store[TABLE_SERVER_KEY].n = 1;
	c.store[TABLE_BYTES_IN_CNT].n = c.store[TABLE_CONN_CUR].n = 1;
	c.store[TABLE_GPC].n = 2;
	c.store[TABLE_GPC_RATE].n = 2;
	c.store[TABLE_GPC_RATE].period_ms = 10000;
	t = table_new(name, &c, &keyhash_known);
	hold(t && table_share(t, &n->news) == 0);
	if (type == TABLE_IPV4)
		hold(table_aggregate(t, 1, 1) == 0);
	hold(peer_group_add_table(n->g, t, name) == 0);
	return t;
}

static void
begin(struct node *n, int is_client)
{
	sys_init(&n->sys, &sys_linux, NULL);
	n->n_out = 0;
	n->g = peer_group_new("g", "A");
	hold(n->g != NULL);
	n->g->on_replaced = on_replaced;
	n->t[0] = new_table(n, "i", TABLE_INTEGER, 4);
	n->t[1] = new_table(n, "s", TABLE_STRING, 8);
	n->t[2] = new_table(n, "b", TABLE_BINARY, 6);
	n->t[3] = new_table(n, "a", TABLE_IPV4, 4);
	hold(peer_group_add_peer(n->g, "B", 0) == 0 && peer_group_start(n->g, 1000) == 0);
	hold(peer_session_begin(&n->s, n->g, is_client ? &n->g->peer[0] : NULL, 1000) == 0);
}

/* Takes what it sends. */
static void
take_output(struct node *n, const struct table_caller *by)
{
	struct str out;
	int has_more, turns = 0;

	do {
		has_more = peer_session_fill(&n->s, by);
		out = peer_session_output(&n->s);
		hold(n->n_out + out.len <= OUT_MAX);
		if (out.len)
			memcpy(n->out + n->n_out, out.p, out.len);
		n->n_out += out.len;
		peer_session_sent(&n->s, out.len, by);
		hold(++turns < 100);
	} while (has_more);
}

static void
receive(struct node *n, const uint8_t *p, size_t len, size_t step)
{
	struct table_caller by = { .sys = &n->sys, .now_ms = 1000 };

	while (len) {
		size_t room, piece = MIN(len, step);
		uint8_t *to = peer_session_room(&n->s, &room);

		piece = MIN(piece, room);
		hold(piece || n->s.state == PEER_ENDING);
		if (!piece)
			break;
		memcpy(to, p, piece);
		peer_session_receive(&n->s, piece, &by);
		p += piece;
		len -= piece;
	}
	take_output(n, &by);
}

static void
end(struct node *n)
{
	peer_session_end(&n->s);
	peer_group_free(n->g);
	for (unsigned int i = 0; i < ARRAY_LEN(n->t); i++)
		table_free(n->t[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int choice = size ? data[0] : 0;
	const uint8_t *p = data + (size != 0);
	size_t n = size - (size != 0);

	begin(&whole, choice & 1);
	begin(&pieces, choice & 1);
	receive(&whole, p, n, n ? n : 1);
	receive(&pieces, p, n, 1 + choice % 7);
	hold(whole.s.state == pieces.s.state);
	hold(whole.n_out == pieces.n_out && memcmp(whole.out, pieces.out, whole.n_out) == 0);
	for (unsigned int i = 0; i < ARRAY_LEN(whole.t); i++)
		hold(table_used(whole.t[i]) == table_used(pieces.t[i]));
	end(&whole);
	end(&pieces);
	return 0;
}
