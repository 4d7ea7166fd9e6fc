/* Settings by commands in a previous worker process, besides states of servers: limits, names,
 * where checks go. First worker, at the start, before the other threads run. Where the
 * configuration has changed, that counts. Each value comes from a process that may be hostile. */
#include <string.h>

#include "app/process/process.h"
#include "base/mem.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/server_kept.h"
#include "proxy/resolve/resolve.h"

/* --- settings of a server --- */

static void
restore_maxconn(struct engine *e, struct server *s, const struct kept_number *k)
{
	if (kept_number_is_set(k, s->kept->maxconn.conf, s->conf.maxconn) && k->now >= 0 &&
		k->now <= INT32_MAX)
		server_set_maxconn(e, s, (int)k->now);
}

/* The address that follows, then, is that of the new name. */
static void
restore_fqdn(struct server *s, const struct server_kept *k)
{
	if (!s->dns || !s->fqdn || !k->fqdn[0] || k->conf_addr != s->kept->conf_addr ||
		strcmp(s->fqdn, k->fqdn) == 0)
		return;
	if (resolve_server_rename(s, k->fqdn) == 0)
		s->has_last_addr = 1;
}

/* True if it differs from what is configured, which is still the same. */
static int
is_target_set(const struct check_target_kept *k, const struct check_target_kept *own)
{
	return k->conf == own->conf && k->port <= UINT16_MAX &&
		(k->port != own->port || memcmp(&k->addr, &own->addr, sizeof(k->addr)) != 0 ||
			strcmp(k->send, own->send) != 0);
}

static void
restore_targets(struct check_server_conf *c, const struct server_kept *k,
	const struct server_kept *own)
{
	struct addr a;
	char *text;

	if (is_target_set(&k->check_to, &own->check_to)) {
		c->port = k->check_to.port;
		if (keep_take_addr(&k->check_to.addr, &a))
			c->addr = a;
	}
	if (!is_target_set(&k->agent_to, &own->agent_to))
		return;
	c->agent_port = k->agent_to.port;
	if (keep_take_addr(&k->agent_to.addr, &a))
		c->agent_addr = a;
	text = strcmp(k->agent_to.send, own->agent_to.send) != 0 ? mem_strdup(k->agent_to.send)
								  : NULL;
	if (!text)
		return;
	mem_free(c->agent_send);
	c->agent_send = text;
}

void
keep_restore_settings(struct process *p, struct server *s, const struct server_kept *k)
{
	restore_maxconn(&process_first(p)->engine, s, &k->maxconn);
	/* A row of a state file has the rest. */
	if (s->has_file_state)
		return;
	restore_fqdn(s, k);
	restore_targets(&s->conf.check, k, s->kept);
}

/* --- limits --- */

static void
restore_frontend(struct process *p, struct proxy *fe)
{
	struct proxy_kept k;

	if (!fe->kept || !keep_find_proxy(&p->keep, fe, PROXY_FE, &k))
		return;
	if (kept_number_is_set(&k.maxconn, fe->kept->maxconn.conf, fe->maxconn) &&
		(k.maxconn.now == PROXY_MAXCONN_NONE ||
			(k.maxconn.now > 0 && k.maxconn.now <= INT32_MAX)))
		fe->maxconn = (int)k.maxconn.now;
}

static void
restore_number(unsigned int *limit, const struct kept_number *k, unsigned int most)
{
	if (kept_number_is_set(k, *limit, *limit) && k->now >= 0 && k->now <= most)
		*limit = (unsigned int)k->now;
}

static const struct kept_process *
latest_process(const struct keep *k)
{
	const struct memfile_item *item = k->n_former
		? memfile_find(&k->former[k->n_former - 1].view, KEEP_PROCESS, "process", "")
		: NULL;

	return item && item->len >= sizeof(struct kept_process) ? item->payload : NULL;
}

static void
restore_process(struct process *p)
{
	const struct kept_process *former = latest_process(&p->keep);
	struct engine_shared *sh = &p->shared;
	struct kept_process k;

	if (!former)
		return;
	memcpy(&k, former, sizeof(k));
	restore_number(&sh->max_sessions, &k.maxconn, p->limits.maxconn);
	restore_number(&sh->conn_limit.max, &k.conn_rate, INT32_MAX);
	restore_number(&sh->sess_limit.max, &k.sess_rate, INT32_MAX);
	restore_number(&sh->tls_limit.max, &k.tls_rate, INT32_MAX);
}

/* Called once before commands can change anything. */
static void
note_configured_limits(struct process *p)
{
	struct kept_process *k = p->keep.process;

	k->maxconn.conf = p->shared.max_sessions;
	k->conn_rate.conf = p->shared.conn_limit.max;
	k->sess_rate.conf = p->shared.sess_limit.max;
	k->tls_rate.conf = p->shared.tls_limit.max;
}

void
keep_note_limits(struct process *p)
{
	struct kept_process *k = p->keep.process;

	if (!k)
		return;
	k->maxconn.now = p->shared.max_sessions;
	k->conn_rate.now = p->shared.conn_limit.max;
	k->sess_rate.now = p->shared.sess_limit.max;
	k->tls_rate.now = p->shared.tls_limit.max;
}

void
keep_restore_limits(struct process *p)
{
	note_configured_limits(p);
	if (p->cfg->global.reload_keep & KEEP_STATES) {
		restore_process(p);
		list_each(it, &p->cfg->proxies.all) {
			struct proxy *px = list_entry(it, struct proxy, link);

			if (px->caps & PROXY_FE)
				restore_frontend(p, px);
		}
	}
	keep_note_limits(p);
}
