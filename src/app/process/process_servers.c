/* A server that is added: its line, then what only the process has, TLS of its workers and checks.
 * On the first worker. */
#include "app/process/process_servers.h"

#include "app/config/tls_finish.h"
#include "app/process/confine.h"
#include "app/process/process.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "net/listener.h"
#include "proxy/check/checker.h"
#include "proxy/model/ring_conf.h"
#include "tls/bind.h"
#include "tls/connect.h"
#include "tls/tls_conf.h"
#include "tls/tls_io.h"

/* --- TLS ------------------------------------------------------------------------------------- */

/*
 * TLS of the process: what each worker accepts with. Main thread, before workers run; the
 * workers own the buffers, the bind lines their contexts.
 */

/* Age of ticket keys. */
#define TICKETS_MS UINT64_C(3600000)
/* The interval of checks. */
#define TICKETS_CHECK_MS 60000

static int
make_io(struct process *p, struct tls_io **io)
{
	int reason;

	for (unsigned int i = 0; i < p->n_workers; i++) {
		io[i] = p->workers[i].tls = tls_io_new(&reason);
		if (!io[i])
			return reason;
		tls_io_share(io[i], &p->tls);
	}
	return 0;
}

static int
open_binds(struct process *p, const struct list *binds, struct tls_io *const *io)
{
	list_each(it, binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);
		int r = b->tls && b->tls->is_on ? tls_bind_open(b->tls, io, p->n_workers) : 0;

		if (r)
			return r;
	}
	return 0;
}

static int
open_server_tls(const struct process *p, struct server *s, struct tls_io *const *io)
{
	int r = s->tls ? tls_server_open(s->tls, io, p->n_workers) : 0;

	if (!r && s->conf.tls.is_on && s->tls)
		s->xprt = tls_server_makers(s->tls);
	return r;
}

static int
open_servers(struct process *p, const struct proxy *be, struct tls_io *const *io)
{
	list_each(it, &be->servers) {
		int r = open_server_tls(p, list_entry(it, struct server, link), io);

		if (r)
			return r;
	}
	return 0;
}

/* On the first worker. */
static int
open_ring_server(struct ring_server *s, void *io)
{
	int r = tls_server_open(s->tls, io, 1);

	if (!r)
		s->client.xprt = tls_server_makers(s->tls)[0];
	return r;
}

/* On the first worker, too. */
static int
open_peers(struct process *p, const struct peers_conf *c, struct tls_io *const *io)
{
	int r = open_binds(p, &c->binds, io);

	list_each(it, &c->peers) {
		const struct peer_conf *s = list_entry(it, const struct peer_conf, link);

		if (s->tls && !r)
			r = tls_server_open(s->tls, io, 1);
	}
	return r;
}

int
process_open_tls(struct process *p)
{
	struct tls_io **io;
	int r;

	if (!config_uses_tls(p->cfg))
		return 0;
	io = mem_zalloc(p->n_workers * sizeof(struct tls_io *));
	r = io ? make_io(p, io) : -ERR_NOMEM;
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *fe = list_entry(it, const struct proxy, link);

		if (!fe->disabled && !r)
			r = open_binds(p, &fe->binds, io);
		if (!fe->disabled && !r)
			r = open_servers(p, fe, io);
	}
	if (!r)
		r = ring_confs_each_tls(&p->cfg->proxies.log.rings, open_ring_server, io);
	list_each(it, &p->cfg->proxies.peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		if (c->is_used && !r)
			r = open_peers(p, c, io);
	}
	mem_free(io);
	return r;
}

/* Makes those for a server that was added at run time; the workers are paused. 0 or a negative
 * reason, -ERR_UNSUPPORTED if the configuration has no TLS. */
static int
process_open_added_tls(struct process *p, struct server *s)
{
	struct tls_io **io;
	int r;

	if (!s->tls)
		return 0;
	if (!process_first(p)->tls)
		return -ERR_UNSUPPORTED;
	io = mem_zalloc(p->n_workers * sizeof(struct tls_io *));
	if (!io)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < p->n_workers; i++)
		io[i] = p->workers[i].tls;
	r = open_server_tls(p, s, io);
	mem_free(io);
	return r;
}

/* A ticket can be used for its lifetime, as the key that made it decrypts for one period more. */
static uint64_t
tickets_period(const struct process *p)
{
	return MAX(TICKETS_MS, (uint64_t)p->cfg->tls.lifetime_s * 1000);
}

static void
on_tickets_timer(struct timer *t)
{
	struct process *p = container_of(t, struct process, tickets_timer);
	struct tls_tickets *k = p->cfg->tls.tickets;
	struct loop *l = process_loop(p);
	uint64_t now = loop_now_ms(l), renewed = MIN(k->keys->renewed_ms, now);

	if (now - renewed >= tickets_period(p)) {
		rendezvous_begin(p);
		/* Without random bytes the old keys stay: the next check tries again. */
		(void)!tls_tickets_rotate(k, now);
		rendezvous_end(p);
	}
	/* The timer is in the heap already. */
	(void)!timer_set(loop_timers(l), t, now + TICKETS_CHECK_MS);
}
PROFILE_NAME(on_tickets_timer, tickets_timer)

int
process_start_tickets(struct process *p)
{
	struct loop *l = process_loop(p);

	timer_init(&p->tickets_timer, on_tickets_timer);
	if (!p->cfg->tls.tickets)
		return 0;
	if (tls_tickets_rotate(p->cfg->tls.tickets, loop_now_ms(l)) < 0)
		return -ERR_SYS;
	return timer_set(loop_timers(l), &p->tickets_timer, loop_now_ms(l) + TICKETS_CHECK_MS);
}

/* --- servers --------------------------------------------------------------------------------- */

/* Returns 0 if the process may connect to the server, which was settled at the start; otherwise -1,
 * with the reason in d. */
static int
check_connect(const struct process *p, const struct server *s, struct cfg_diag *d)
{
	char text[ADDR_TEXT];
	struct addr a;

	(void)addr_cell_get(&s->addr, &a);
	if (!(p->confined & CONFINED_ABSTRACT) || addr_family(&a) != AF_UNIX || a.u.un.sun_path[0])
		return 0;
	cfg_diag_add(d, CFG_ALERT, NULL,
		"this process may not connect to '%s': its configuration has no address 'abns@' "
		"but those of 'bind' lines.",
		addr_text(&a, text));
	return -1;
}

/* 0, or -1 after the reason was reported. */
static int
equip_server(struct process *p, struct server *s, struct cfg_diag *d)
{
	int r = check_connect(p, s, d) == 0 ? tls_finish_added(p->cfg, s, d) : -1;

	if (r)
		return -1;
	r = process_open_added_tls(p, s);
	if (!r)
		r = checker_add(p->checker, s) < 0 ? -ERR_NOMEM : 0;
	if (r)
		cfg_diag_add(d, CFG_ALERT, NULL, "%s",
			r == -ERR_UNSUPPORTED
				? "TLS of servers needs a 'bind' or 'server' line with 'ssl' in "
				  "the configuration."
				: err_text(r));
	return r ? -1 : 0;
}

struct server *
process_add_server(struct process *p, const struct server_line *line, struct cfg_diag *d)
{
	struct server *s = server_add(line, d);

	if (s && equip_server(p, s, d)) {
		server_remove(&p->cfg->proxies, s);
		s = NULL;
	}
	return s;
}
