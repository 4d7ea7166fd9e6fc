/*
 * Large sends in place: what goes to a side that the kernel need not copy for is read into a buffer
 * of its own, which stays pinned when it is sent from (net/zerocopy.h).
 */
#include "proxy/relay/direction.h"

#include "proxy/model/memory.h"

void
engine_allow_zerocopy(struct engine *e, size_t threshold, uint64_t max, int fast_path)
{
	unsigned int keep = e->pools.buf.keep_max;

	e->zerocopy.threshold = threshold;
	e->zerocopy.max = max;
	e->zerocopy.fast_path = fast_path;
	if (!threshold)
		return;
	/* Whole pages: a page that is given up must not contain other data. */
	pool_fini(&e->pools.buf);
	pool_init_aligned(&e->pools.buf, "buffer", e->bufsize, ZEROCOPY_ALIGN, keep);
}

/* For local addresses the kernel copies when the bytes arrive. */
void
direction_plan_zerocopy(struct stream *s)
{
	struct addr to;

	s->conn[CLIENT]->no_zerocopy = (uint8_t)addr_is_loopback(&s->sess->peer);
	(void)addr_cell_get(&s->srv->addr, &to);
	s->conn[SERVER]->no_zerocopy = (uint8_t)addr_is_loopback(&to);
}

uint32_t
direction_take_zc_completions(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[side];
	struct engine *e = s->engine;
	unsigned int answers;

	if (!c->zerocopy)
		return ev;
	answers = zerocopy_reap(&e->zerocopy, c);
	if (answers)
		memory_watch(e);
	/* Both are possible; a connection with FINs from both ends has HUP without an error. */
	if ((answers && !(ev & EV_HUP)) || !conn_take_error(c))
		return ev & ~EV_ERR;
	conn_note_error(c);
	return ev | EV_RW | DIRECTION_EV_TAKEN;
}

void
direction_reap_zc(struct stream *s)
{
	struct engine *e = s->engine;

	for (int side = 0; side < SIDES; side++)
		if (s->conn[side]->zerocopy && zerocopy_reap(&e->zerocopy, s->conn[side]))
			memory_watch(e);
}
