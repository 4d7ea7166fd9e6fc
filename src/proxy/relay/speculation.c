/* Tries before an event, and what is learned from them: see the header. */
#include "proxy/relay/speculation.h"

#include "proxy/model/count.h"
#include "proxy/relay/direction.h"

void
speculation_connecting(struct stream *s)
{
	if (!server_guess(srv_shard(s, s->srv), SERVER_NEAR))
		conn_presume_again(s->conn[SERVER], DIR_W);
}

int
speculation_send(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct conn *sink = s->conn[SERVER];
	size_t put;
	int near;

	if (!direction_pending(d) || !conn_is_ready(sink, DIR_W))
		return 0;
	switch (conn_send(
		sink, d->buf + d->head, direction_buffered(d), d->state == DIRECTION_DRAIN, &put)) {
	case IO_OK:
		d->head += (uint32_t)put;
		near = 1;
		break;
	case IO_AGAIN:
		near = 0;
		break;
	case IO_EOF:
	case IO_ERR:
	default:
		return -1;
	}
	server_learn(srv_shard(s, s->srv), SERVER_NEAR, near);
	return near;
}

void
speculation_tried_handshake(struct stream *s, int sent)
{
	server_learn(srv_shard(s, s->srv), SERVER_NEAR, sent);
}

/* In mode tcp only its end shows how long a descriptor is used: that has to arrive as early. */
void
speculation_expect_answer(struct stream *s)
{
	struct conn *c = s->conn[SERVER];

	if (conn_is_stream(c) || (!s->txn && loop_mode(c->loop) == INTEREST_UNMERGED) ||
		!server_guess(srv_shard(s, s->srv), s->txn ? SERVER_QUICK : SERVER_BRIEF))
		return;
	s->dir[SERVER].reads_early = 1;
	if (!s->txn)
		conn_expect_end(c);
	conn_presume_ready(c, DIR_R);
}

int
speculation_reads_server(const struct stream *s)
{
	return !s->txn && conn_is_ready(s->conn[SERVER], DIR_R);
}

void
speculation_answered(struct stream *s, int came)
{
	if (!s->dir[SERVER].reads_early)
		return;
	s->dir[SERVER].reads_early = 0;
	server_learn(srv_shard(s, s->srv), SERVER_QUICK, came);
}

/* A client that got the FIN of its server mostly closes too, before the next turn. */
static void
expect_client_end(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];

	if (!c->shut || s->dir[CLIENT].state != DIRECTION_OPEN || conn_polled(c) ||
		!server_guess(srv_shard(s, s->srv), SERVER_FOLLOWED))
		return;
	s->dir[CLIENT].reads_early = 1;
	conn_presume_ready(c, DIR_R);
}

void
speculation_was_read(struct stream *s, int side)
{
	if (s->txn)
		return;
	s->dir[side].reads_early = 0;
	server_learn(srv_shard(s, s->srv), side == SERVER ? SERVER_BRIEF : SERVER_FOLLOWED,
		s->conn[side]->eof);
	if (side == SERVER && s->conn[side]->eof)
		expect_client_end(s);
}
