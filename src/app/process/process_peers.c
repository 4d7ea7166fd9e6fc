/* Connections with peers: listeners and attempts to connect, bytes in both directions, and times.
 * On the first worker, but for the report of changes. */
#include "app/process/process_peers.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "net/listener.h"
#include "net/outbound.h"
#include "peers/peer_group.h"
#include "peers/peer_out.h"
#include "tls/connect.h"

#define CONNECT_MS 5000
/* The pause before the next attempt: after a failure, and after the end of a session, or when both
 * sides were connecting; each with a random part. */
#define RETRY_MS 5000u
#define RETRY_RANDOM_MS 500u
#define AGAIN_MS 50u
#define AGAIN_RANDOM_MS 2000u
/* Changes are sent at most as often. */
#define NEWS_MS 10
/* Times that a connection is read, filled and sent in one turn. */
#define ROUNDS 4



/* Values of proxies.peers_news. */
enum { NEWS_NONE, NEWS_SOME, NEWS_REPORTED };

static void pump_link(struct peers_link *l);

static struct loop *
loop_of(const struct peers_run *r)
{
	return process_loop(r->all->process);
}

static struct table_caller
peers_caller(const struct peers_run *r)
{
	return (struct table_caller){ .sys = r->all->process->sys,
		.now_ms = loop_now_ms(loop_of(r)) };
}

static void
set_timer_after(const struct peers_run *r, struct timer *t, uint64_t ms)
{
	/* Without memory for a timer events of sockets still come. */
	(void)!timer_set(loop_timers(loop_of(r)), t, loop_now_ms(loop_of(r)) + ms);
}

/* --- attempts --- */

static struct peers_dial *
dial_of(const struct peers_run *r, const struct peer *p)
{
	return &r->dial[p - r->group->peer];
}

static void
dial_later(struct peers_dial *d)
{
	struct peer *p = d->peer;
	int soon = p->had_collision || p->status == PEER_STATUS_UP ||
		p->status == PEER_STATUS_RETRY || p->status == PEER_STATUS_VERSION;
	uint32_t random = 0;

	p->had_collision = 0;
	/* Without random bytes the two sides differ by the time of their connections. */
	(void)!random_bytes(&d->run->all->random, &random, sizeof(random));
	set_timer_after(d->run, &d->timer,
		soon ? AGAIN_MS + random % AGAIN_RANDOM_MS : RETRY_MS + random % RETRY_RANDOM_MS);
}

/* --- connections --- */

/* Counts peers for other workers. */
static void
count_peers(struct process_peers *all)
{
	unsigned int connected = 0, active = 0;

	list_each(it, &all->runs) {
		const struct peers_run *r = list_entry(it, const struct peers_run, link);

		for (unsigned int i = 0; i < r->group->n_peers; i++) {
			const struct peer_session *s = r->group->peer[i].session;

			connected += s != NULL;
			active += s && s->state == PEER_UP;
		}
	}
	(void)atomic_swap(&all->n_connected, connected);
	(void)atomic_swap(&all->n_active, active);
}

/* The session ends as well. The peer is connected to again later. */
static void
close_link(struct peers_link *l)
{
	struct peers_run *r = l->run;
	struct peer *p = l->peer ? l->peer : l->s.peer;
	struct peers_dial *d = p ? dial_of(r, p) : NULL;

	if (l->s.group)
		peer_session_end(&l->s);
	if (d && d->link == l)
		d->link = NULL;
	task_cancel(&l->task);
	timer_stop(loop_timers(loop_of(r)), &l->timer);
	conn_finish(&l->conn);
	conn_close_late(&l->conn);
	if (l->listener)
		listener_release(l->listener);
	list_remove(&l->link);
	r->n_links--;
	mem_free(l);
	count_peers(r->all);
	if (d && !p->session && !d->link && r->all->process->state < PROCESS_STOPPING)
		dial_later(d);
}

static void
on_replaced_session(struct peer_session *s)
{
	close_link(container_of(s, struct peers_link, s));
}

static void
on_link_timer(struct timer *t)
{
	struct peers_link *l = container_of(t, struct peers_link, timer);

	if (l->is_connecting)
		close_link(l);
	else
		pump_link(l);
}
PROFILE_NAME(on_link_timer, peers_link_timer)

static void
on_link_task(struct task *t)
{
	pump_link(container_of(t, struct peers_link, task));
}
PROFILE_NAME(on_link_task, peers_link_task)

static struct peers_link *
new_link(struct peers_run *r, struct peer *p, struct listener *ln)
{
	struct peers_link *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->run = r;
	l->peer = p;
	l->listener = ln;
	conn_init(&l->conn);
	timer_init(&l->timer, on_link_timer);
	task_init(&l->task, on_link_task);
	list_append(&r->links, &l->link);
	r->n_links++;
	return l;
}

/* Reads once, if the socket is ready. 1: something came, 0: nothing did, -1: the connection has
 * ended. */
static int
read_link(struct peers_link *l)
{
	struct table_caller by = peers_caller(l->run);
	size_t room, got;
	uint8_t *to = peer_session_room(&l->s, &room);

	if (!room || !conn_is_ready(&l->conn, DIR_R))
		return 0;
	switch (conn_recv(&l->conn, to, room, &got)) {
	case IO_OK:
		peer_session_receive(&l->s, got, &by);
		return 1;
	case IO_AGAIN:
		break;
	case IO_EOF:
	case IO_ERR:
		return -1;
	}
	return 0;
}

/* Sends the output. 1: all of it, 0: the socket is full, -1: the connection has ended. */
static int
send_link(struct peers_link *l)
{
	struct table_caller by = peers_caller(l->run);
	struct str out;
	size_t put;

	while ((out = peer_session_output(&l->s)).len)
		switch (conn_send(&l->conn, out.p, out.len, 0, &put)) {
		case IO_OK:
			peer_session_sent(&l->s, put, &by);
			break;
		case IO_AGAIN:
			return 0;
		case IO_EOF:
		case IO_ERR:
			return -1;
		}
	return 1;
}

/* Waits for the next cause. has_more: there is output to be made. */
static void
await_link(struct peers_link *l, int has_more)
{
	int is_blocked = peer_session_output(&l->s).len != 0;
	uint64_t at = peer_session_deadline(&l->s);

	conn_want(&l->conn, is_blocked ? EV_R | EV_W : EV_R);
	if (has_more && !is_blocked)
		loop_post_next(loop_of(l->run), &l->task);
	(void)!timer_set(loop_timers(loop_of(l->run)), &l->timer, at);
}

/* Makes workers report changes again, since a peer is connected. Called before the latest changes
 * are collected. */
static void
listen_to_news(struct process_peers *all)
{
	if (!all->is_quiet)
		return;
	all->is_quiet = 0;
	atomic_store(&all->process->cfg->proxies.peers_news, NEWS_NONE);
}

/* Has all connections of the group send what they can. */
static void
post_links(const struct peers_run *r)
{
	list_each(it, &r->links) {
		struct peers_link *l = list_entry(it, struct peers_link, link);

		if (!l->is_connecting)
			loop_post(loop_of(r), &l->task);
	}
}

/* Reads, makes output, sends: a bounded number of times. */
static void
pump_link(struct peers_link *l)
{
	struct table_caller by = peers_caller(l->run);
	struct peers_run *r = l->run;
	int has_more = 1, was_done = r->group->resync == PEER_RESYNC_DONE;

	for (int i = 0, got = 1, sent = 1; l && i < ROUNDS && (got || (has_more && sent)); i++) {
		got = read_link(l);
		if (l->s.state == PEER_UP)
			listen_to_news(r->all);
		has_more = got >= 0 && peer_session_fill(&l->s, &by);
		sent = send_link(l);
		if (got < 0 || sent < 0 || peer_session_is_over(&l->s)) {
			close_link(l);
			l = NULL;
		}
	}
	/* Changes have waited until the process had all entries. */
	if (!was_done && r->group->resync == PEER_RESYNC_DONE)
		post_links(r);
	if (!l)
		return;
	count_peers(r->all);
	await_link(l, has_more);
}

/* The connection is open: the hello is sent, unless the peer has connected meanwhile. */
static void
greet_peer(struct peers_link *l)
{
	l->is_connecting = 0;
	if (l->peer->session || peer_session_begin(&l->s, l->run->group, l->peer,
				     loop_now_ms(loop_of(l->run))) < 0)
		close_link(l);
	else
		pump_link(l);
}

static void
on_link_io(void *owner, int fd, uint32_t ev)
{
	struct peers_link *l = owner;

	(void)fd;
	if (ev & EV_SPIN || (l->is_connecting && conn_take_error(&l->conn))) {
		close_link(l);
		return;
	}
	if (!l->is_connecting)
		pump_link(l);
	else if (ev & EV_W)
		greet_peer(l);
}
PROFILE_NAME(on_link_io, peers_link_io)

/* The name to verify is that of `verifyhost`. */
static int
open_link(struct peers_link *l, const struct peer_conf *conf)
{
	const struct xprt_maker *const *makers = conf->tls ? tls_server_makers(conf->tls) : NULL;
	struct outbound o = { .to = &conf->addr, .xprt = makers ? makers[0] : NULL };
	const struct tls_ask ask = { .name = { NULL, 0 } };
	int r = outbound_open(&l->conn, loop_of(l->run), &o, on_link_io, l);

	return r >= 0 && l->conn.xprt ? tls_connect_as(&l->conn, &ask) : r;
}

static void
on_dial(struct timer *t)
{
	struct peers_dial *d = container_of(t, struct peers_dial, timer);
	struct peers_link *l;

	if (d->peer->session || d->link)
		return;
	l = new_link(d->run, d->peer, NULL);
	if (!l) {
		dial_later(d);
		return;
	}
	d->link = l;
	d->peer->status = PEER_STATUS_CONNECTING;
	l->is_connecting = 1;
	if (open_link(l, d->conf) < 0) {
		close_link(l);
		return;
	}
	set_timer_after(l->run, &l->timer, CONNECT_MS);
	outbound_await(&l->conn);
}
PROFILE_NAME(on_dial, peers_dial)

/* Begins a session for a connection. One without a hello ends after a time, and their number is
 * bounded. */
static void
on_peer_accept(struct listener *ln, int fd, const struct addr *from)
{
	struct peers_run *r = ln->owner;
	struct peers_link *l;

	if (r->all->process->shared.denies_low_ports && addr_has_privileged_port(from)) {
		listener_deny(ln, fd);
		return;
	}
	l = r->n_links < 2 * r->group->n_peers + PEERS_LINKS_MORE ? new_link(r, NULL, ln) : NULL;
	if (!l) {
		(void)sys_close(r->all->process->sys, fd);
		listener_release(ln);
		return;
	}
	if (conn_open_xprt(&l->conn, loop_of(r), fd, on_link_io, l, CONN_TCP_NODELAY,
		    ln->xprt) < 0) {
		(void)sys_close(r->all->process->sys, fd);
		close_link(l);
		return;
	}
	if (peer_session_begin(&l->s, r->group, NULL, loop_now_ms(loop_of(r))) < 0)
		close_link(l);
	else
		await_link(l, 0);
}

/* --- changes --- */

static void
on_news_timer(struct timer *t)
{
	struct process_peers *all = container_of(t, struct process_peers, news_timer);
	int is_up = 0;

	/* Before the changes are collected. */
	atomic_store(&all->process->cfg->proxies.peers_news, NEWS_NONE);
	list_each(it, &all->runs) {
		struct peers_run *r = list_entry(it, struct peers_run, link);

		list_each(lt, &r->links) {
			struct peers_link *l = list_entry(lt, struct peers_link, link);

			if (l->is_connecting || l->s.state != PEER_UP)
				continue;
			is_up = 1;
			loop_post(process_loop(all->process), &l->task);
		}
	}
	if (is_up)
		return;
	all->is_quiet = 1;
	atomic_store(&all->process->cfg->proxies.peers_news, NEWS_REPORTED);
}
PROFILE_NAME(on_news_timer, peers_news_timer)

static void
set_news_timer(struct process *p)
{
	struct loop *l = process_loop(p);

	if (p->peers && p->state < PROCESS_STOPPING)
		(void)!timer_set(loop_timers(l), &p->peers->news_timer, loop_now_ms(l) + NEWS_MS);
}

static void
on_news_mail(void *worker, struct mail *m unused)
{
	set_news_timer(((const struct worker *)worker)->process);
}
PROFILE_NAME(on_news_mail, peers_news_mail)

void
process_peers_report(struct worker *w)
{
	struct process *p = w->process;
	struct mail m = { .fn = on_news_mail };
	int some = NEWS_SOME;

	if (!atomic_compare_exchange_strong(&p->cfg->proxies.peers_news, &some, NEWS_REPORTED))
		return;
	if (w == process_first(p))
		set_news_timer(p);
	else
		wake_worker_post(w, process_first(p), &m);
}

/* --- groups --- */

static void
on_group_timer(struct timer *t)
{
	struct peers_run *r = container_of(t, struct peers_run, timer);
	uint64_t now = loop_now_ms(loop_of(r)), next = peer_group_tick(r->group, now);

	if (next != UINT64_MAX)
		(void)!timer_set(loop_timers(loop_of(r)), t, next);
	/* Another peer may have to be asked, or changes that have waited may be sent. */
	post_links(r);
}
PROFILE_NAME(on_group_timer, peers_group_timer)

/* Adds the tables that name the section, and its own, whose names there begin with '/'. */
static int
add_tables(const struct process *p, const struct peers_conf *c, struct peer_group *g)
{
	int r = 0;

	list_each(it, &c->tables) {
		const struct peers_table *t = list_entry(it, const struct peers_table, link);

		if (r == 0)
			r = peer_group_add_table(g, t->table, t->name + strlen(c->name));
	}
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		if (r == 0 && px->table && px->table_peers && strcmp(px->table_peers, c->name) == 0)
			r = peer_group_add_table(g, px->table, px->name);
	}
	return r;
}

static int
add_peers(const struct peers_conf *c, struct peer_group *g)
{
	list_each(it, &c->peers) {
		const struct peer_conf *s = list_entry(it, const struct peer_conf, link);
		int r = s == c->local ? 0 : peer_group_add_peer(g, s->name, s->shard);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Attempts begin in the next turn. */
static int
start_dials(struct peers_run *r)
{
	unsigned int n = 0;

	r->dial = mem_zalloc(r->group->n_peers * sizeof(*r->dial));
	if (!r->dial)
		return -ERR_NOMEM;
	list_each(it, &r->conf->peers) {
		const struct peer_conf *s = list_entry(it, const struct peer_conf, link);
		struct peers_dial *d = &r->dial[n];

		if (s == r->conf->local)
			continue;
		*d = (struct peers_dial){ .conf = s, .peer = &r->group->peer[n++], .run = r };
		timer_init(&d->timer, on_dial);
		set_timer_after(r, &d->timer, 0);
	}
	return 0;
}

static void
prepare_listeners(struct peers_run *r)
{
	list_each(it, &r->conf->binds)
		list_each(lt, &list_entry(it, struct bind_conf, link)->listeners) {
			struct listener *ln = list_entry(lt, struct listener, link);

			ln->owner = r;
			ln->worker = process_first(r->all->process);
			ln->on_accept = on_peer_accept;
		}
}

static int
start_group(struct process_peers *all, struct peers_conf *c)
{
	struct process *p = all->process;
	struct peers_run *r = mem_zalloc(sizeof(*r));
	int rc;

	if (!r)
		return -ERR_NOMEM;
	list_append(&all->runs, &r->link);
	list_init(&r->links);
	timer_init(&r->timer, on_group_timer);
	r->all = all;
	r->conf = c;
	r->group = peer_group_new(c->name, c->local->name);
	if (!r->group)
		return -ERR_NOMEM;
	r->group->pid = (unsigned int)p->cfg->diag.pid;
	r->group->shards = c->shards;
	r->group->on_replaced = on_replaced_session;
	rc = add_tables(p, c, r->group);
	if (rc == 0)
		rc = add_peers(c, r->group);
	if (rc == 0)
		rc = peer_group_start(r->group, loop_now_ms(loop_of(r)));
	if (rc == 0)
		rc = start_dials(r);
	prepare_listeners(r);
	set_timer_after(r, &r->timer, PEER_RESYNC_MS);
	return rc;
}

int
process_peers_start(struct process *p)
{
	int rc = 0;

	list_each(it, &p->cfg->proxies.peers) {
		struct peers_conf *c = list_entry(it, struct peers_conf, link);

		if (!c->is_used || rc)
			continue;
		if (!p->peers) {
			p->peers = mem_zalloc(sizeof(*p->peers));
			if (!p->peers)
				return -ERR_NOMEM;
			p->peers->process = p;
			list_init(&p->peers->runs);
			random_init(&p->peers->random, p->sys);
			timer_init(&p->peers->news_timer, on_news_timer);
		}
		rc = start_group(p->peers, c);
	}
	return rc;
}

static void
stop_group(struct peers_run *r)
{
	struct timers *ts = loop_timers(loop_of(r));

	process_close_binds(r->all->process, &r->conf->binds);
	timer_stop(ts, &r->timer);
	for (unsigned int i = 0; r->dial && i < r->group->n_peers; i++)
		timer_stop(ts, &r->dial[i].timer);
	list_each_safe(it, &r->links)
		close_link(list_entry(it, struct peers_link, link));
	for (unsigned int i = 0; r->dial && i < r->group->n_peers; i++)
		timer_stop(ts, &r->dial[i].timer);
}

void
process_peers_end(struct process *p)
{
	struct process_peers *all = p->peers;

	if (!all)
		return;
	timer_stop(loop_timers(process_loop(p)), &all->news_timer);
	list_each_safe(it, &all->runs) {
		struct peers_run *r = list_entry(it, struct peers_run, link);

		if (r->group)
			stop_group(r);
		list_remove(&r->link);
		mem_free(r->dial);
		peer_group_free(r->group);
		mem_free(r);
	}
	mem_free(all);
	p->peers = NULL;
}
