/* One idle connection, on its worker: how it leaves its lists, and whether the server has left it
 * alone. */
#include "proxy/backend/idle_conn.h"

#include "base/atomic.h"
#include "event/profile.h"

void
idle_conn_unlink(struct idle_conn *c)
{
	struct idle_list *l = c->of;

	if (c->holder) {
		*c->holder = NULL;
		c->holder = NULL;
	} else {
		list_remove(&c->link);
		list_remove(&c->name_link);
		atomic_write(&l->n, l->n - 1);
		if (c->uses > 1)
			atomic_write(&l->n_safe, l->n_safe - 1);
		atomic_write(&l->least, MIN(l->least, l->n));
		if (l->srv->conf.pool_max >= 0)
			(void)atomic_sub(&l->srv->idle_total, 1u);
	}
	list_remove(&c->age);
	c->of = NULL;
}

void
idle_conn_drop(struct engine *e, struct idle_conn *c)
{
	idle_conn_unlink(c);
	conn_want(&c->conn, 0);
	list_append(&e->idle.over, &c->age);
	loop_post_end(e->loop, &e->idle.task);
}

/* A server must not send anything before a request: data is treated like a close and discarded. */
static int
probe_silence(struct idle_conn *c)
{
	size_t got;
	char byte;

	c->unsure = 0;
	if (!conn_can(&c->conn, XPRT_PEEK))
		return conn_recv(&c->conn, &byte, 1, &got) == IO_AGAIN;
	return conn_peek(&c->conn, &byte, 1, &got) == IO_AGAIN;
}

int
idle_conn_probe(struct idle_conn *c)
{
	return (!c->unsure && !conn_is_ready(&c->conn, DIR_R) && !conn_has_news(&c->conn)) ||
		probe_silence(c);
}

void
idle_conn_on_io(void *owner, int fd, uint32_t ev)
{
	struct idle_conn *c = owner;

	(void)fd;
	if (!c->of)
		return;
	if ((ev & (EV_RDHUP | EV_HUP | EV_ERR | EV_SPIN)) || ((ev & EV_R) && !probe_silence(c)))
		idle_conn_drop(c->of->engine, c);
}
PROFILE_NAME(idle_conn_on_io, conn_pool_io)
