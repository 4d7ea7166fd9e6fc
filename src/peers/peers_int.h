/* Messages of the peers protocol, and a session's output: for the files of this folder. */
#ifndef TACIT_PEERS_PEERS_INT_H
#define TACIT_PEERS_PEERS_INT_H

#include "peers/peer_session.h"

/* The head of a message: class, type and the longest length. */
#define HEAD_MAX (2 + WIRE_NUMBER_MAX)

enum message_class { CLASS_CONTROL = 0, CLASS_ERROR = 1, CLASS_TABLE = 10 };

/* SUM_: between processes with tables that add up only. One that has begun announces it, since its
 * connections are new and it knows no counts; each may ask for all counts of the other. */
enum control {
	RESYNC_REQUEST,
	RESYNC_FINISHED,
	RESYNC_PARTIAL,
	RESYNC_CONFIRM,
	HEARTBEAT,
	SUM_BEGIN = 16,
	SUM_REQUEST,
	SUM_FINISHED,
	SUM_CONFIRM
};

enum error_type { ERROR_PROTOCOL, ERROR_SIZE };

/* Types of messages with a length begin here. */
#define TYPE_HAS_BODY 128u

enum table_message {
	TABLE_UPDATE = 128,
	TABLE_NEXT_UPDATE,      /* its number is the last one + 1 */
	TABLE_DEFINE,
	TABLE_SWITCH,
	TABLE_ACK,
	TABLE_TIMED_UPDATE,     /* with the time that the entry has left */
	TABLE_NEXT_TIMED_UPDATE
};

/* Notes the changes that the peer has acknowledged. */
static inline void
note_acked(struct peer_cursor *c, uint64_t n)
{
	c->acked = n;
	if (c->mark)
		atomic_store_explicit(c->mark, n, memory_order_relaxed);
}

/* Notes that the process has all entries, as far as there are peers that have them. */
static inline void
end_resync(struct peer_group *g)
{
	g->resync = PEER_RESYNC_DONE;
	for (unsigned int i = 0; i < g->n_tables; i++)
		if (g->table[i].mark)
			atomic_store_explicit(g->table[i].mark, 1, memory_order_relaxed);
}

/* Gives up the peer that was asked: it does not send its entries. Another one is asked later, if
 * there is one. */
static inline void
ask_another(struct peer_group *g, uint64_t now_ms)
{
	unsigned int i = 0;

	g->asked = NULL;
	g->resync = PEER_RESYNC_WANTED;
	g->resync_ms = now_ms + PEER_RESYNC_MS;
	while (i < g->n_peers && g->peer[i].was_asked)
		i++;
	if (i == g->n_peers)
		end_resync(g);
}

/* Ends a search for what the peer has missed. */
static inline void
stop_search(struct peer_cursor *c)
{
	c->search_end = 0;
	c->walk = c->found = (struct table_walk){ 0 };
}

/* The number of the session's peer in tables that add up. */
static inline unsigned int
peer_part(const struct peer *p)
{
	return (unsigned int)(p - p->group->peer);
}

/* True if the peer is sent counts of tables that add up: it has such a table, and has returned what
 * we had counted before the start, which they would replace. */
static inline int
may_send_sums(const struct peer_session *s)
{
	return s->peer_adds_up && (!s->peer->wants_sums || s->peer_begins);
}

/* True if the table's changes are sent to the peer: one that adds up to those with the same. */
static inline int
table_is_for_peer(const struct peer_session *s, unsigned int i)
{
	const struct peer_table *t = &s->group->table[i];

	return !table_conf_of(t->table)->recv_only &&
		(!t->adds_up || (s->peer->cursor[i].remote_id != 0 && may_send_sums(s)));
}

static inline size_t
out_room(const struct peer_session *s)
{
	return PEER_BUFFER - s->out_len;
}

/* Appends bytes for which there is room. */
static inline void
put_out(struct peer_session *s, const void *p, size_t n)
{
	assert(n <= out_room(s));
	memcpy(s->out + s->out_len, p, n);
	s->out_len += n;
}

static inline void
put_control(struct peer_session *s, enum message_class class, unsigned int type)
{
	const uint8_t b[2] = { (uint8_t)class, (uint8_t)type };

	put_out(s, b, sizeof(b));
}

#endif
