/* Places of servers with `strict-maxconn`: their number, under the backend's lock, and the
 * notification of workers when one is free. */
#include "proxy/backend/server_place.h"

#include <limits.h>

#include "base/atomic.h"

/* Number of free places. */
static unsigned int
free_places_locked(const struct server *srv)
{
	unsigned int most = (unsigned int)srv->conf.maxconn;

	lock_assert_held(&srv->be->lock);
	if (!most)
		return UINT_MAX;
	return srv->conns < most ? most - srv->conns : 0;
}

static void
notify_workers(struct engine *e, struct server *srv, uint64_t who)
{
	for (; who; who &= who - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(who);

		if (i == e->index)
			e->hooks.on_place(e, srv);
		else
			e->hooks.wake_pool(e, i, srv);
	}
}

int
server_place_take(struct engine *e, struct server *srv)
{
	int has;

	lock_take(&srv->be->lock, e->sys);
	has = free_places_locked(srv) > 0;
	srv->conns += (unsigned int)has;
	lock_drop(&srv->be->lock);
	return has;
}

void
server_place_put(struct engine *e, struct server *srv)
{
	uint64_t who;

	lock_take(&srv->be->lock, e->sys);
	assert(srv->conns > 0);
	srv->conns--;
	/* Workers whose sessions still wait then ask again. */
	who = srv->places_wanted;
	atomic_write(&srv->places_wanted, 0);
	lock_drop(&srv->be->lock);
	notify_workers(e, srv, who);
}

unsigned int
server_place_want(struct engine *e, struct server *srv, unsigned int n, int *is_new)
{
	uint64_t own = server_place_bit(e), before;
	unsigned int places;

	lock_take(&srv->be->lock, e->sys);
	before = srv->places_wanted;
	places = free_places_locked(srv);
	atomic_write(&srv->places_wanted, (before & ~own) | (places < n ? own : 0));
	lock_drop(&srv->be->lock);
	if (is_new)
		*is_new = places < n && !(before & own);
	return MIN(places, n);
}

void
server_conn_close(struct engine *e, struct server *srv, struct conn *c)
{
	int has_place = c->has_place;

	c->has_place = 0;
	conn_close(c);
	if (unlikely(has_place))
		server_place_put(e, srv);
}
