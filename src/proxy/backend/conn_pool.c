/* Idle connections to servers, of one worker: no bytes are pending; any event closes one. */
#include "proxy/backend/conn_pool.h"

#include "base/atomic.h"
#include "base/counter.h"
#include "base/keyhash.h"
#include "base/mem.h"
#include "base/random.h"
#include "event/profile.h"
#include "net/xprt.h"
#include "proxy/backend/server_place.h"
#include "proxy/model/memory.h"
#include "proxy/model/session.h"

/* Objects kept for reuse. */
#define IDLE_KEPT 256

static void on_over(struct task *t);

static struct list *idle_names_slot(struct idle_names *n, struct str name, uint64_t *hash);

void
conn_pool_init(struct engine *e)
{
	struct conn_pool *p = &e->idle;

	pool_init(&p->pool, "idle", sizeof(struct idle_conn), IDLE_KEPT);
	list_init(&p->all);
	list_init(&p->held);
	list_init(&p->over);
	list_init(&p->lists);
	task_init(&p->task, on_over);
	p->low_fds = p->high_fds = UINT32_MAX;
}

/* --- names ----------------------------------------------------------------------------------- */

/*
 * A table of lists, of a fixed size: the pool's limits bound what is in it. The names are those
 * that the connections themselves know.
 */

/* A power of two. */
#define NAME_SLOTS 256

struct idle_names {
	struct keyhash key;
	struct list slot[NAME_SLOTS]; /* struct idle_conn.name_link, newest first */
};

/* NULL when memory is out, or the kernel has no random bytes. */
static struct idle_names *
idle_names_new(struct random_source *random)
{
	struct idle_names *n = mem_alloc(sizeof(*n));
	uint64_t bits[2];

	if (!n || random_bytes(random, bits, sizeof(bits)) < 0) {
		mem_free(n);
		return NULL;
	}
	keyhash_init(&n->key, bits);
	for (unsigned int i = 0; i < NAME_SLOTS; i++)
		list_init(&n->slot[i]);
	return n;
}

/* No connection is left in it. *n may be NULL. */
static void
idle_names_free(struct idle_names **n)
{
	for (unsigned int i = 0; *n && i < NAME_SLOTS; i++)
		assert(list_is_empty(&(*n)->slot[i]));
	mem_free(*n);
	*n = NULL;
}

static struct str
name_of_conn(const struct idle_conn *c)
{
	struct str name = { NULL, 0 };

	(void)!conn_query(&c->conn, XPRT_QUERY_SERVER_NAME, &name);
	return name;
}

/* Before the others of its name. It leaves when it is unlinked. */
static void
idle_names_add(struct idle_names *n, struct idle_conn *c)
{
	struct list *slot = idle_names_slot(n, name_of_conn(c), &c->name_hash);

	list_append(slot->next, &c->name_link);
}

/* The list where those of this name are, by idle_conn.name_link, with others. */
static struct list *
idle_names_slot(struct idle_names *n, struct str name, uint64_t *hash)
{
	*hash = keyhash(&n->key, name.p, name.len);
	return &n->slot[keyhash_slot(*hash, NAME_SLOTS)];
}

/* True if it has asked for this name; len 0: for none. */
static int
idle_conn_has_name(const struct idle_conn *c, struct str name, uint64_t hash)
{
	return c->name_hash == hash && str_is(name_of_conn(c), name);
}

/* --- idle connections ------------------------------------------------------------------------ */

/*
 * One idle connection, on its worker: how it leaves its lists, and whether the server has left
 * it alone.
 */

/* Takes it out of its lists; the caller adds it to another one, or frees it. */
static void
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

/* Closes it: at the end of the turn, as descriptors of sessions, or now if that frees a place. */
static void
idle_conn_drop(struct engine *e, struct idle_conn *c)
{
	struct server *srv = c->of->srv;

	idle_conn_unlink(c);
	conn_want(&c->conn, 0);
	if (unlikely(c->conn.has_place))
		server_conn_close(e, srv, &c->conn);
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

/* True if no data has arrived since it was put here. Mostly known without a system call. An
 * undelivered event of this turn may report data. */
static int
idle_conn_probe(struct idle_conn *c)
{
	return (!c->unsure && !conn_is_ready(&c->conn, DIR_R) && !conn_has_news(&c->conn)) ||
		probe_silence(c);
}

/* Gets its events; owner: the connection. */
static void
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

/* --- leaving --- */

static void
close_over(struct engine *e)
{
	while (!list_is_empty(&e->idle.over)) {
		struct idle_conn *c = list_first(&e->idle.over, struct idle_conn, age);

		list_remove(&c->age);
		conn_close_late(&c->conn);
		pool_put(&e->idle.pool, c);
	}
	memory_watch(e);
}

static void
on_over(struct task *t)
{
	close_over(container_of(t, struct engine, idle.task));
}
PROFILE_NAME(on_over, conn_pool_over)

static void
drop_all(struct engine *e, struct list *l)
{
	while (!list_is_empty(l))
		idle_conn_drop(e, list_first(l, struct idle_conn, age));
}

void
conn_pool_fini(struct engine *e)
{
	drop_all(e, &e->idle.all);
	drop_all(e, &e->idle.held);
	task_cancel(&e->idle.task);
	close_over(e);
	list_each_safe(it, &e->idle.lists) {
		struct idle_list *l = list_entry(it, struct idle_list, link);

		timer_stop(loop_timers(e->loop), &l->timer);
		list_remove(it);
		idle_names_free(&l->names);
	}
	pool_fini(&e->idle.pool);
}

int
conn_pool_has_server(const struct engine *e, const struct server *srv)
{
	const struct idle_list *l = &srv->shard[e->index].idle;

	list_each(it, &e->idle.held) {
		if (list_entry(it, const struct idle_conn, age)->of == l)
			return 1;
	}
	return l->n > 0;
}

void
conn_pool_forget_server(struct engine *e, struct server *srv)
{
	struct idle_list *l = &srv->shard[e->index].idle;

	if (!l->engine)
		return;
	timer_stop(loop_timers(e->loop), &l->timer);
	list_remove(&l->link);
	idle_names_free(&l->names);
	l->engine = NULL;
}

/* --- surplus connections --- */

static int
arm_purge(struct idle_list *l)
{
	struct loop *loop = l->engine->loop;

	return timer_set(
		loop_timers(loop), &l->timer, loop_now_ms(loop) + l->srv->conf.pool_purge_ms);
}

/* Closes half of the surplus, the oldest first: connections that were idle during the whole
 * interval. */
static void
on_purge(struct timer *t)
{
	struct idle_list *l = container_of(t, struct idle_list, timer);
	unsigned int n = (l->least + 1) / 2;

	l->wanted -= MIN(l->wanted, n);
	while (n-- > 0)
		idle_conn_drop(l->engine, container_of(l->conns.prev, struct idle_conn, link));
	atomic_write(&l->least, l->n);
	/* Without its timer they might never be closed. */
	if (l->n && arm_purge(l) < 0)
		while (l->n)
			idle_conn_drop(l->engine, list_first(&l->conns, struct idle_conn, link));
}
PROFILE_NAME(on_purge, conn_pool_purge)

/* --- coming --- */

static struct idle_list *
list_of(struct engine *e, struct server *srv)
{
	struct idle_list *l = &srv->shard[e->index].idle;

	if (!l->engine) {
		l->engine = e;
		l->srv = srv;
		list_init(&l->conns);
		timer_init(&l->timer, on_purge);
		list_append(&e->idle.lists, &l->link);
	}
	return l;
}

/* True if it can be used for another request. */
static int
is_sound(const struct conn *c)
{
	return conn_is_open(c) && !c->eof && !c->err && !c->shut && !c->zerocopy &&
		!(conn_seen(c) & (EV_RDHUP | EV_HUP | EV_ERR | EV_URGENT));
}

/* True if connections to this server have the same destination for all clients. */
static int
is_one_place(const struct server *srv)
{
	struct addr a;

	(void)addr_cell_get(&srv->addr, &a);
	return !srv->spec.has_offset && !addr_is_any(&a);
}

/* True if it leads to the address that the server has now, and has TLS if the server has. */
static int
is_current(const struct server *srv, const struct conn *c)
{
	return c->addr_gen == addr_cell_gen(&srv->addr) && !c->xprt == !srv->xprt;
}

int
conn_pool_leads_to(const struct server *srv, const struct conn *c)
{
	return is_current(srv, c) && is_one_place(srv);
}

/* Takes a place among the idle connections of all workers. */
static int
enter_idle_total(struct server *srv)
{
	if (srv->conf.pool_max < 0)
		return 1;
	if (atomic_add(&srv->idle_total, 1u) <= (unsigned int)srv->conf.pool_max)
		return 1;
	(void)atomic_sub(&srv->idle_total, 1u);
	return 0;
}

static int
is_idle_wanted(const struct engine *e, const struct server *srv, const struct conn *c,
	unsigned int uses, int is_held)
{
	if (!server_is_running(srv) || !conn_pool_leads_to(srv, c) ||
		(srv->conf.max_reuse >= 0 && uses > (unsigned int)srv->conf.max_reuse))
		return 0;
	return is_held || (srv->conf.pool_purge_ms && !e->memory_tight &&
				  loop_fds(e->loop) <= e->idle.low_fds);
}

/*
 * Has one more connection kept from now on, since a request has found none that it could use. Never
 * more than were in use at once; where names differ also those that have asked for other names.
 */
static void
want_more(struct idle_list *l)
{
	if (l->wanted < l->n + atomic_read(&l->srv->cur))
		l->wanted++;
}

/* True if the session that the connection is reserved for has authenticated on it: only its own
 * next request may use or replace it. */
static int
is_authenticated(struct idle_conn *const *holder)
{
	return container_of(holder, const struct session, held)->held_private;
}

/* True if the connection takes a place that sessions wait for (strict-maxconn). */
static int
has_wanted_place(const struct server *srv, const struct conn *c, struct idle_conn *const *holder)
{
	return c->has_place && server_place_is_wanted(srv) &&
		!(holder && is_authenticated(holder));
}

/* True if one more is not needed: there are as many as requests look for. */
static int
is_surplus(const struct idle_list *l)
{
	return l->n > l->wanted &&
		l->n > (unsigned int)l->srv->conf.pool_low / l->srv->be->n_shards;
}

/* Makes the index by name, since connections that have asked for different names have to be found.
 * 0: no memory. */
static int
prepare_names(struct engine *e, struct idle_list *l)
{
	if (unlikely(l->srv->sni_varies) && !l->names)
		l->names = idle_names_new(&e->eval.random);
	return !l->srv->sni_varies || l->names;
}

static void
put_shared(struct engine *e, struct idle_list *l, struct idle_conn *c)
{
	c->link.next = l->conns.next;
	c->link.prev = &l->conns;
	l->conns.next->prev = &c->link;
	l->conns.next = &c->link;
	list_append(&e->idle.all, &c->age);
	if (unlikely(l->names))
		idle_names_add(l->names, c);
	atomic_write(&l->n, l->n + 1);
	if (c->uses > 1)
		atomic_write(&l->n_safe, l->n_safe + 1);
}

int
conn_pool_put(struct engine *e, struct server *srv, struct conn *c, unsigned int uses,
	struct idle_conn **holder)
{
	struct idle_list *l;
	struct idle_conn *ic;

	if (!is_sound(c) || !is_idle_wanted(e, srv, c, uses, holder != NULL) ||
		unlikely(has_wanted_place(srv, c, holder)) || !memory_reserve(e, &e->idle.pool))
		return 0;
	l = list_of(e, srv);
	if (!holder && is_surplus(l))
		return 0;
	if (!holder && (!prepare_names(e, l) || (!l->timer.pos && arm_purge(l) < 0) ||
			       !enter_idle_total(srv)))
		return 0;
	ic = pool_get(&e->idle.pool);
	assert(ic);
	ic->conn = *c;
	ic->of = l;
	ic->holder = holder;
	ic->uses = uses;
	ic->name_hash = 0;
	/* Without lazy registration this is reset as soon as anything is wanted. */
	ic->unsure = (uint8_t)conn_is_ready(c, DIR_R);
	list_init(&ic->link);
	list_init(&ic->age);
	list_init(&ic->name_link);
	if (holder) {
		*holder = ic;
		list_append(&e->idle.held, &ic->age);
	} else {
		put_shared(e, l, ic);
	}
	conn_set_owner(c, idle_conn_on_io, ic);
	conn_want(c, EV_R);
	memory_watch(e);
	conn_init(c);
	return 1;
}

/* --- going --- */

static void
hand_over_idle(struct engine *e, struct idle_conn *c, loop_fd_fn *fn, void *owner, struct conn *out,
	unsigned int *uses)
{
	idle_conn_unlink(c);
	*out = c->conn;
	*uses = c->uses;
	pool_put(&e->idle.pool, c);
	conn_set_owner(out, fn, owner);
	memory_watch(e);
}

unsigned int
conn_pool_least_uses(enum http_reuse how, int first)
{
	switch (how) {
	case HTTP_REUSE_NEVER:
		return 0;
	case HTTP_REUSE_SAFE:
		return !first;
	case HTTP_REUSE_AGGRESSIVE:
		return first ? 2 : 1;
	case HTTP_REUSE_ALWAYS:
		break;
	}
	return 1;
}

/* Takes an idle connection out. 0: it was closed, since it cannot be used. */
static int
take_idle(struct engine *e, struct idle_conn *c, loop_fd_fn *fn, void *owner, struct conn *out,
	unsigned int *uses)
{
	struct server *srv = c->of->srv;

	if (!is_current(srv, &c->conn) || !idle_conn_probe(c)) {
		idle_conn_drop(e, c);
		return 0;
	}
	hand_over_idle(e, c, fn, owner, out, uses);
	counter_add(&srv->shard[e->index].stat.reuse, 1);
	counter_add(&srv->be->shard[e->index].be.reuse, 1);
	return 1;
}

int
conn_pool_get(struct engine *e, struct server *srv, int first, loop_fd_fn *fn, void *owner,
	struct conn *out, unsigned int *uses)
{
	struct idle_list *l = list_of(e, srv);
	unsigned int least = conn_pool_least_uses(srv->be->http.reuse, first);

	if (!least)
		return 0;
	list_each_safe(it, &l->conns) {
		struct idle_conn *c = list_entry(it, struct idle_conn, link);

		if (c->uses >= least && take_idle(e, c, fn, owner, out, uses))
			return 1;
	}
	if (!l->n)
		want_more(l);
	return 0;
}

int
conn_pool_get_named(struct engine *e, struct server *srv, struct str name, int first,
	loop_fd_fn *fn, void *owner, struct conn *out, unsigned int *uses)
{
	struct idle_list *l = list_of(e, srv);
	unsigned int least = conn_pool_least_uses(srv->be->http.reuse, first);
	struct list *slot;
	uint64_t hash;
	int is_known = 0;

	if (!least || !l->names)
		return 0;
	slot = idle_names_slot(l->names, name, &hash);
	list_each_safe(it, slot) {
		struct idle_conn *c = list_entry(it, struct idle_conn, name_link);

		if (!idle_conn_has_name(c, name, hash))
			continue;
		if (c->uses >= least && take_idle(e, c, fn, owner, out, uses))
			return 1;
		is_known |= c->of == l;
	}
	if (!is_known)
		want_more(l);
	return 0;
}

int
conn_pool_take_held(struct engine *e, struct idle_conn **holder, loop_fd_fn *fn, void *owner,
	struct conn *out, unsigned int *uses)
{
	return take_idle(e, *holder, fn, owner, out, uses);
}

void
conn_pool_release(struct engine *e, struct idle_conn **holder)
{
	if (*holder)
		idle_conn_drop(e, *holder);
}

/* --- calls of others --- */

/* Closes this worker's idle connections to a server, or only those to an address that it no longer
 * has. */
static void
drop_conns_to(struct engine *e, struct server *srv, int only_stale)
{
	struct idle_list *l = &srv->shard[e->index].idle;

	if (!l->engine)
		return;
	list_each_safe(it, &l->conns) {
		struct idle_conn *c = list_entry(it, struct idle_conn, link);

		if (!only_stale || !is_current(srv, &c->conn))
			idle_conn_drop(e, c);
	}
	list_each_safe(it, &e->idle.held) {
		struct idle_conn *c = list_entry(it, struct idle_conn, age);

		if (c->of == l && (!only_stale || !is_current(srv, &c->conn)))
			idle_conn_drop(e, c);
	}
}

void
conn_pool_drop_server(struct engine *e, struct server *srv)
{
	drop_conns_to(e, srv, 0);
}

void
conn_pool_drop_stale(struct engine *e, struct server *srv)
{
	drop_conns_to(e, srv, 1);
}

void
conn_pool_drop_oldest(struct engine *e)
{
	idle_conn_drop(e, list_first(&e->idle.all, struct idle_conn, age));
}

int
conn_pool_drop_one(struct engine *e, const struct server *srv)
{
	const struct idle_list *l = &srv->shard[e->index].idle;

	if (l->engine && l->n) {
		idle_conn_drop(e, container_of(l->conns.prev, struct idle_conn, link));
		return 1;
	}
	list_each_safe(it, &e->idle.held) {
		struct idle_conn *c = list_entry(it, struct idle_conn, age);

		if (c->of != l || is_authenticated(c->holder))
			continue;
		idle_conn_drop(e, c);
		return 1;
	}
	return 0;
}

void
conn_pool_count(const struct server *srv, unsigned int *all, unsigned int *safe)
{
	*all = *safe = 0;
	for (unsigned int i = 0; i < srv->be->n_shards; i++) {
		*all += atomic_read(&srv->shard[i].idle.n);
		*safe += atomic_read(&srv->shard[i].idle.n_safe);
	}
}

unsigned int
conn_pool_needed(const struct server *srv)
{
	unsigned int n = atomic_read(&srv->cur);

	for (unsigned int i = 0; i < srv->be->n_shards; i++) {
		const struct idle_list *l = &srv->shard[i].idle;
		unsigned int idle = atomic_read(&l->n), least = atomic_read(&l->least);

		/* Another worker may change either of them. */
		n += idle - MIN(least, idle);
	}
	return n;
}
