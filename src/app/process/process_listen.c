/* The process's listeners: their settings before they bind, all of them in order, and those of one
 * frontend that is paused, resumed or stopped. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/process/handover.h"
#include "app/process/process.h"
#include "base/atomic.h"
#include "base/err.h"
#include "base/futex.h"
#include "net/addr.h"
#include "net/handshakes.h"
#include "net/listener.h"
#include "net/listener_key.h"
#include "net/overlap.h"
#include "net/shards.h"
#include "proxy/model/proxy.h"
#include "proxy/session/session.h"
#include "tls/bind.h"

/* Time that handshakes in progress get before the listeners are closed, if the kernel does not say
 * whether there are any: several slices of the scheduler. */
#define HANDSHAKE_MS 30
#define PEERS_BACKLOG 128

/* The same for the listeners of these bind lines. */
static void
process_each_of_binds(struct list *binds, process_listener_fn *fn, void *arg)
{
	list_each(it, binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners)
			fn(list_entry(lt, struct listener, link), arg);
	}
}

static void
each_of_frontends(struct process *p, process_listener_fn *fn, void *arg)
{
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled)
			process_each_of_binds(&px->binds, fn, arg);
	}
}

/* Calls fn for each listener of sections peers. */
static void
each_of_peers(struct process *p, process_listener_fn *fn, void *arg)
{
	list_each(it, &p->cfg->proxies.peers) {
		struct peers_conf *c = list_entry(it, struct peers_conf, link);

		if (c->is_used)
			process_each_of_binds(&c->binds, fn, arg);
	}
}

void
process_each_listener(struct process *p, process_listener_fn *fn, void *arg)
{
	each_of_frontends(p, fn, arg);
	each_of_peers(p, fn, arg);
	process_each_of_binds(&p->cfg->global.admin_binds, fn, arg);
}

static unsigned int
count_of(const struct list *binds)
{
	unsigned int n = 0;

	list_each(it, binds)
		n += list_entry(it, struct bind_conf, link)->n_listeners;
	return n;
}

unsigned int
process_listeners(const struct process *p)
{
	unsigned int n = count_of(&p->cfg->global.admin_binds);

	list_each(it, &p->cfg->proxies.peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		n += c->is_used ? count_of(&c->binds) : 0;
	}
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled && px->listening != PROXY_STOPPED)
			n += count_of(&px->binds);
	}
	return n;
}

/* Number of sockets for each address of a bind line. */
static unsigned int
shards_of(const struct process *p, const struct bind_conf *b)
{
	int shards = b->shards ? b->shards : p->cfg->global.default_shards;

	return shards == BIND_SHARDS_BY_THREAD ? p->n_workers : (unsigned int)shards;
}

static int
make_listeners(struct process *p, struct proxy *fe)
{
	uint64_t all = p->n_workers < 64 ? (UINT64_C(1) << p->n_workers) - 1 : UINT64_MAX;

	list_each(it, &fe->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);
		uint64_t threads = b->threads ? b->threads & all : all;
		int r = shards_make(b, threads ? threads : all, shards_of(p, b));

		if (r)
			return r;
	}
	return 0;
}

int
process_make_listeners(struct process *p)
{
	int r = 0;

	list_each(it, &p->cfg->proxies.all) {
		struct proxy *fe = list_entry(it, struct proxy, link);

		if (!fe->disabled && !r)
			r = make_listeners(p, fe);
	}
	return r;
}

/* Copies that share a socket are closed before the one that owns it. */
void
process_close_binds(struct process *p, struct list *binds)
{
	list_each(it, binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		for (int leads = 0; leads < 2; leads++)
			list_each(lt, &b->listeners) {
				struct listener *ln = list_entry(lt, struct listener, link);

				if ((ln->lead == NULL) == leads && ln->fd >= 0)
					listener_close(ln, p->sys);
			}
	}
}

static void
remove_path(struct listener *ln, void *process)
{
	listener_unlink(ln, ((struct process *)process)->sys);
}

struct refusal {
	struct process *process;
	int is_any;
	int is_elsewhere;        /* a listener is in another network namespace */
	struct handshake_ports ports;
};

static void
refuse_new(struct listener *ln, void *refusal)
{
	struct refusal *r = refusal;

	if (!listener_refuse_new(ln, r->process->sys))
		return;
	r->is_any = 1;
	r->is_elsewhere |= ln->bind->netns != NULL;
	handshake_ports_add(&r->ports, addr_port(&ln->addr));
}

static void
drain_backlog(struct listener *ln, void *arg unused)
{
	listener_drain(ln);
}

/* A handshake in progress is not in the backlog yet. */
int
process_refuse_new(struct process *p)
{
	struct refusal r = { .process = p };
	int n;

	each_of_frontends(p, refuse_new, &r);
	if (!r.is_any)
		return 0;
	n = r.is_elsewhere ? -EINVAL : handshakes_pending(p->sys, &r.ports);
	if (n < 0)
		futex_pause(p->sys, HANDSHAKE_MS);
	return n > 0;
}

void
process_drain_listeners(struct process *p)
{
	each_of_frontends(p, drain_backlog, NULL);
}

void
process_close_listeners(struct process *p, int all)
{
	list_each(it, &p->cfg->proxies.all)
		process_close_binds(p, &list_entry(it, struct proxy, link)->binds);
	list_each(it, &p->cfg->proxies.peers)
		process_close_binds(p, &list_entry(it, struct peers_conf, link)->binds);
	if (!all)
		return;
	process_each_of_binds(&p->cfg->global.admin_binds, remove_path, p);
	process_close_binds(p, &p->cfg->global.admin_binds);
}

/* --- saved sockets --------------------------------------------------------------------------- */

/*
 * Sockets of listeners that other processes opened or will take over: the master, the process
 * that this one replaces. Before threads run.
 */

/* Finds an inherited socket for this listener, before it is bound; NULL: it has to open one. */
static struct inherited_socket *
process_find_kept(struct process *p, struct listener *ln)
{
	struct inherited_socket *s;
	char key[LISTENER_KEY_MAX];

	if (!p->inherited || ln->inherit_fd >= 0 || ln->lead)
		return NULL;
	listener_key(ln, key);
	s = inherited_take(p->inherited, key);
	if (s)
		ln->kept_fd = s->fd;
	return s;
}

/* The descriptor that a listener will get, or -1: a new one. */
static int
open_socket_of(const struct process *p, const struct listener *ln)
{
	const struct inherited_socket *s;
	char key[LISTENER_KEY_MAX];

	if (ln->inherit_fd >= 0 || !p->inherited)
		return ln->inherit_fd;
	listener_key(ln, key);
	s = inherited_find(p->inherited, key);
	return s ? s->fd : -1;
}

/* Before the first of the listeners that share a port is bound: lets the others join those of them
 * whose sockets are open already. */
static void
process_permit_overlap(const struct process *p, struct listener *ln)
{
	if (!ln->overlaps || ln->overlap_root || ln->first)
		return;
	for (const struct listener *l = ln; l; l = l->overlap_next) {
		int fd = open_socket_of(p, l);

		if (fd < 0)
			continue;
		/* A failure shows when the next one binds. */
		(void)!overlap_permit(p->sys, fd);
		ln->port_kept = 1;
	}
}

/* A socket whose listener this process does not have, or has not bound yet. */
static int
holds_address_of(struct sys *sys, struct inherited_socket *s, const struct listener *ln)
{
	struct addr a;

	if (s->taken || s->fd < 0 || (s->port >= 0 && s->port != (int)addr_port(&ln->addr)))
		return 0;
	if (addr_of_socket(sys, s->fd, &a) < 0)
		return 0;
	s->port = (int)addr_port(&a);
	return s->port != 0 && s->port == (int)addr_port(&ln->addr) &&
		(addr_is_any(&a) || addr_is_any(&ln->addr) || addr_is_same_host(&a, &ln->addr));
}

/* After a bind that failed with EADDRINUSE: the address may have been held by an inherited socket
 * whose listener has gone from the configuration, or has changed (a wildcard, an option). Lets ln,
 * and those that share its port, be bound beside it until it is closed; 1 if there is one. */
static int
process_join_inherited(const struct process *p, struct listener *ln)
{
	unsigned int joined = 0;

	for (const struct listener *l = ln; p->inherited && l; l = l->overlap_next)
		for (unsigned int i = 0; i < p->inherited->n; i++) {
			struct inherited_socket *s = &p->inherited->v[i];

			joined += holds_address_of(p->sys, s, l) &&
				overlap_permit(p->sys, s->fd) == 0;
		}
	if (joined)
		ln->reuseport = ln->port_kept = 1;
	return joined != 0;
}

/* Under a master: passes the listener's socket to it. 0 or a negative reason that was reported. */
static int
process_keep(struct process *p, struct listener *ln, const struct inherited_socket *s)
{
	char key[LISTENER_KEY_MAX];
	int r;

	if (!p->master || ln->inherit_fd >= 0)
		return 0;
	ln->kept_open |= LISTENER_KEPT_MASTER;
	if (ln->lead)
		return 0;
	/* The master removes its path. */
	ln->made_ino = 0;
	listener_key(ln, key);
	r = master_link_keep(p->master, key, ln->fd, !s || s->from != INHERITED_MASTER);
	if (r)
		report_msg(p->report, REPORT_ALERT, "cannot pass the socket %s to the master: %s",
			key, err_text(r));
	return r;
}

/* --- binding --------------------------------------------------------------------------------- */

static int
try_bind(struct process *p, struct listener *ln, int backlog, const struct inherited_socket **kept,
	char *why, size_t why_len)
{
	int r;

	process_permit_overlap(p, ln);
	*kept = process_find_kept(p, ln);
	r = listener_bind(ln, p->sys, backlog, why, why_len);
	if (r == -EADDRINUSE && process_join_inherited(p, ln))
		r = listener_bind(ln, p->sys, backlog, why, why_len);
	return r;
}

static int
bind_one(struct process *p, struct listener *ln, const char *what, const char *name, int backlog)
{
	const struct cfg_where *at = &ln->bind->where;
	int tries = p->former && former_can_help(p->former) ? FORMER_PATIENCE_MS / FORMER_STEP_MS
							    : 0;
	const struct inherited_socket *kept;
	char why[256] = "";
	int r;

	r = try_bind(p, ln, backlog, &kept, why, sizeof(why));
	/* A process that this one replaces may have the address. */
	for (; r == -EADDRINUSE && tries; tries--) {
		former_ask(p->former);
		r = try_bind(p, ln, backlog, &kept, why, sizeof(why));
	}
	if (!r)
		return process_keep(p, ln, kept);
	report_msg(p->report, REPORT_ALERT, "Binding [%s:%u] for %s %s: %s",
			   at->file ? at->file->name : "-", at->line, what, name, why);
	return r;
}

/* True if accepted connections get no quick ACKs: in mode http the answer acknowledges the
 * request. */
static int
is_quickack_off(const struct proxy *fe)
{
	return (fe->options & OPT_SMART_ACCEPT) != 0 ||
		(fe->mode == PROXY_HTTP && !(fe->no_options & OPT_SMART_ACCEPT));
}

/* Options that accepted connections of this listener inherit. */
static void
prepare_listener(struct process *p, struct listener *ln, struct proxy *fe)
{
	session_listen(ln, fe, &p->workers[ln->thread].engine);
	ln->log = &p->workers[ln->thread].log;
	handover_enable(p, ln);
	ln->xprt = tls_bind_maker(ln->bind->tls, ln->thread);
	ln->max_accept = (unsigned int)p->cfg->global.maxaccept;
	ln->nodelay = 1;
	ln->keepalive = fe->options & OPT_CLITCPKA ? &fe->client_keepalive : NULL;
	ln->sockbuf = &p->cfg->global.client_buf;
	ln->quickack_off = is_quickack_off(fe);
}

/* Prepares all frontends before the first is bound: the names of sockets depend on them. */
static void
prepare_frontend(struct process *p, struct proxy *fe)
{
	list_each(it, &fe->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners)
			prepare_listener(p, list_entry(lt, struct listener, link), fe);
	}
}

static int
bind_frontend(struct process *p, struct proxy *fe)
{
	int backlog = fe->backlog ? fe->backlog
		: fe->maxconn     ? fe->maxconn
				  : (int)p->limits.maxconn;
	const struct listener *failed = NULL;

	list_each(it, &fe->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners) {
			struct listener *ln = list_entry(lt, struct listener, link);
			const struct listener *first = ln->first ? ln->first : ln;

			/* An address that failed for one worker is not tried for the others. */
			if (first != failed && bind_one(p, ln, "proxy", fe->name, backlog))
				failed = first;
		}
	}
	return failed != NULL;
}

static void
prepare_peers(struct listener *ln, void *process)
{
	const struct process *p = process;

	ln->log = process_log(p);
	ln->xprt = tls_bind_maker(ln->bind->tls, 0);
	ln->max_accept = (unsigned int)p->cfg->global.maxaccept;
	ln->nodelay = 1;
}

static int
bind_peers(struct process *p)
{
	int bad = 0;

	each_of_peers(p, prepare_peers, p);
	list_each(it, &p->cfg->proxies.peers) {
		struct peers_conf *c = list_entry(it, struct peers_conf, link);

		list_each(bt, &c->binds)
			list_each(lt, &list_entry(bt, struct bind_conf, link)->listeners)
				if (c->is_used)
					bad |= bind_one(p, list_entry(lt, struct listener, link),
						       "peers", c->name, PEERS_BACKLOG) != 0;
	}
	return bad;
}

static int
bind_admin(struct process *p)
{
	int bad = 0;

	list_each(it, &p->cfg->global.admin_binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners)
			bad |= bind_one(p, list_entry(lt, struct listener, link), "stats", "socket",
					p->cfg->global.stats_maxconn) != 0;
	}
	return bad;
}

static void
warn_if_less(struct process *p, const char *name, const char *side, int want, int got)
{
	if (got < want)
		report_msg(p->report, REPORT_WARNING,
			"tune.%s.%s is %d, but the kernel allows %d (net.core.%s)", name, side,
			want, got, name[0] == 'r' ? "rmem_max" : "wmem_max");
}

static void
check_sockbuf(struct process *p, const char *side, const struct sockbuf *b)
{
	struct sockbuf got;
	int r;

	if (!b->rcv && !b->snd)
		return;
	r = sockbuf_probe(p->sys, b, &got);
	if (r < 0) {
		report_msg(p->report, REPORT_WARNING, "cannot try the buffers of the %s side: %s",
			side, err_text(r));
		return;
	}
	warn_if_less(p, "rcvbuf", side, b->rcv, got.rcv);
	warn_if_less(p, "sndbuf", side, b->snd, got.snd);
}

/* Warns of socket buffer sizes above the kernel's limits. */
static void
process_check_sockbufs(struct process *p)
{
	check_sockbuf(p, "client", &p->cfg->global.client_buf);
	check_sockbuf(p, "server", &p->cfg->global.server_buf);
}

int
process_bind(struct process *p)
{
	int bad = 0;

	process_check_sockbufs(p);
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled)
			prepare_frontend(p, px);
	}
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled)
			bad |= bind_frontend(p, px);
	}
	bad |= bind_peers(p);
	/* Done last and only on success: it replaces the path of an instance that may be
	 * running. */
	if (!bad)
		bad = bind_admin(p);
	if (bad)
		return -ERR_SYS;
	p->state = PROCESS_BOUND;
	return 0;
}

/* --- frontends --- */

#define TEXT_MAX 512

/* Writes to the terminal and the proxy's own logs. */
static void fmt_printf(3, 4)
log_frontend(struct process *p, const struct proxy *fe, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_msg(p->report, REPORT_WARNING, "%s", text);
	log_send(process_log(p), &fe->logs, LOG_LEVEL_WARNING, fe->log.tag, text, strlen(text));
}

static void
suspend_one(struct listener *ln, void *arg)
{
	(void)arg;
	listener_suspend(ln);
}

static void
suspend_all(struct proxy *fe)
{
	process_each_of_binds(&fe->binds, suspend_one, NULL);
	fe->listening = PROXY_PAUSED;
}

void
frontend_pause(struct process *p, struct proxy *fe)
{
	rendezvous_begin(p);
	suspend_all(fe);
	rendezvous_end(p);
	log_frontend(p, fe, "Paused %s %s.", proxy_kind(fe), fe->name);
}

/* The first listener that cannot listen again, and why. */
struct restart {
	const struct listener *failed;
	int reason;
};

static void
restart_one(struct listener *ln, void *arg)
{
	struct restart *all = arg;

	if (all->failed)
		return;
	all->reason = listener_restart(ln);
	if (all->reason)
		all->failed = ln;
}

static void
log_failed(struct process *p, const struct proxy *fe, const struct restart *all)
{
	char text[ADDR_TEXT];

	if (all->reason == -EADDRINUSE)
		log_frontend(p, fe, "Port %u busy while trying to enable %s %s.",
			addr_port(&all->failed->addr), proxy_kind(fe), fe->name);
	else
		log_frontend(p, fe, "Cannot listen on %s while trying to enable %s %s: %s.",
			addr_text(&all->failed->addr, text), proxy_kind(fe), fe->name,
			err_text(all->reason));
}

int
frontend_resume(struct process *p, struct proxy *fe)
{
	struct restart all = { 0 };

	rendezvous_begin(p);
	process_each_of_binds(&fe->binds, restart_one, &all);
	if (all.failed)
		suspend_all(fe);
	else
		fe->listening = PROXY_LISTENS;
	rendezvous_end(p);
	if (all.failed)
		log_failed(p, fe, &all);
	log_frontend(p, fe, "%s %s %s.", all.failed ? "Paused" : "Resumed", proxy_kind(fe),
		fe->name);
	return all.reason;
}

void
frontend_stop(struct process *p, struct proxy *fe, struct sbuf *lines)
{
	struct proxy_stat front, back;
	char text[TEXT_MAX];

	rendezvous_begin(p);
	process_close_binds(p, &fe->binds);
	fe->listening = PROXY_STOPPED;
	rendezvous_end(p);
	proxy_stat_sum(fe, PROXY_FE, &front);
	proxy_stat_sum(fe, PROXY_BE, &back);
	(void)snprintf(text, sizeof(text),
		"Proxy %s stopped (cumulated conns: FE: %llu, BE: %llu).", fe->name,
		(unsigned long long)front.cum_conn, (unsigned long long)back.cum_conn);
	if (lines)
		report_add(p->report, lines, REPORT_WARNING, "%s", text);
	else
		report_msg(p->report, REPORT_WARNING, "%s", text);
	log_send(process_log(p), &fe->logs, LOG_LEVEL_WARNING, fe->log.tag, text, strlen(text));
}

void
frontend_note_hard_stop(struct process *p, struct proxy *fe)
{
	unsigned int n = gate_count(&fe->fe_gate);

	if (n)
		log_frontend(p, fe, "Proxy %s hard-stopped (%u remaining conns will be closed).",
			fe->name, n);
}
