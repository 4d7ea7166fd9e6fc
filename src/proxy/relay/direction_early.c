/* A client's bytes before its server is known to be up: kept, and the first of them sent on trust.
 * Runs on the session's worker. */
#include "proxy/model/count.h"
#include "proxy/relay/direction.h"

void
direction_collect(struct session *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct conn *src = &s->conn[CLIENT];
	struct engine *e = s->engine;
	size_t got;
	int may_keep;

	if (d->state != DIRECTION_OPEN || !direction_has_room(e, d) ||
		!conn_is_ready(src, DIR_R))
		return;
	may_keep = direction_reserve_room(e, d);
	if (!may_keep && !conn_can(src, XPRT_PEEK)) {
		/* Data, if any, stays there too. */
		d->left_in_kernel = 1;
		return;
	}
	switch (may_keep ? conn_recv(src, e->scratch, e->bufsize - d->tail, &got)
			 : conn_peek(src, e->scratch, 1, &got)) {
	case IO_AGAIN:
		return;
	case IO_OK:
		if (!may_keep) {
			/* The data stays there until the server's side is established. */
			d->left_in_kernel = 1;
			return;
		}
		direction_count(s, CLIENT, got);
		direction_buf_append(e, d, e->scratch, got);
		if (src->eof)
			direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
		return;
	case IO_EOF:
		direction_event(s, CLIENT, DIRECTION_EV_SRC_EOF);
		return;
	case IO_ERR:
		direction_side_failed(s, CLIENT);
		return;
	}
}

int
direction_speculative_send(struct session *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct conn *sink = &s->conn[SERVER];
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
