/* States of servers that a previous worker process had. First worker, at the start, before the
 * other threads run. Each value comes from a process that may be hostile, and is verified before
 * it is used. */
#include <stdio.h>
#include <string.h>

#include "app/process/keep.h"
#include "app/process/process.h"
#include "app/process/process_servers.h"
#include "base/age.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/backend/server_tls.h"
#include "proxy/model/check.h"
#include "proxy/model/server_kept.h"
#include "proxy/resolve/resolve.h"

#define CAUSE ", as before the reload"
#define FORCED (SERVER_MAINT_FORCED | SERVER_DRAIN_FORCED)

/* --- settings -------------------------------------------------------------------------------- */

/*
 * Settings by commands in a previous worker process, besides states of servers: limits, names,
 * where checks go. First worker, at the start, before the other threads run. Where the
 * configuration has changed, that counts. Each value comes from a process that may be hostile.
 */

/* --- settings of a server --- */

static int keep_find_proxy(const struct keep *k, const struct proxy *px, unsigned int side, struct
	proxy_kept *out);
static int keep_take_addr(const struct addr *kept, struct addr *out);

static void
restore_maxconn(struct engine *e, struct server *s, const struct kept_number *k)
{
	if (kept_number_is_set(k, s->kept->maxconn.conf, s->conf.maxconn) && k->now >= 0 &&
		k->now <= INT32_MAX)
		server_set_maxconn(e, s, (int)k->now);
}

static void
restore_tls(struct server *s, const struct kept_number *k)
{
	if (kept_number_is_set(k, s->kept->tls.conf, s->conf.tls.is_on) && server_may_use_tls(s))
		server_restore_tls(s, k->now != 0);
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

/* Restores what commands had set of a server besides its state: its limit, TLS, its name, where
 * its checks go. Called before its address, which belongs to the name. */
static void
keep_restore_settings(struct process *p, struct server *s, const struct server_kept *k)
{
	restore_maxconn(&process_first(p)->engine, s, &k->maxconn);
	/* A row of a state file has the rest. */
	if (s->has_file_state)
		return;
	restore_tls(s, &k->tls);
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

/* Limits of the process and of frontends. */
static void
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

/* --- finding --- */

/* Copies the state in the latest process that had this server: that process may be writing it. */
static int
find_kept_server(const struct keep *k, const struct server *s, struct server_kept *out)
{
	char key[KEEP_KEY_MAX];

	keep_server_key(key, s);
	for (unsigned int f = k->n_former; f-- > 0;) {
		const struct memfile_item *item =
			memfile_find(&k->former[f].view, KEEP_SERVER, key, keep_guid(s->guid));

		if (!item || item->len < sizeof(struct kept_server))
			continue;
		memcpy(out, &((const struct kept_server *)item->payload)->state, sizeof(*out));
		out->fqdn[sizeof(out->fqdn) - 1] = out->line[sizeof(out->line) - 1] = '\0';
		out->agent_to.send[sizeof(out->agent_to.send) - 1] = '\0';
		out->check.info[CHECK_INFO_MAX - 1] = out->agent.info[CHECK_INFO_MAX - 1] = '\0';
		if (out->is_set)
			return 1;
	}
	return 0;
}

/* The copy of the latest process that had this proxy on this side. 1, or 0: none. */
static int
keep_find_proxy(const struct keep *k, const struct proxy *px, unsigned int side,
	struct proxy_kept *out)
{
	for (unsigned int f = k->n_former; f-- > 0;) {
		const struct memfile_item *item = keep_find_side(&k->former[f], px, side);

		if (!item || item->len < sizeof(struct kept_proxy))
			continue;
		memcpy(out, &((const struct kept_proxy *)item->payload)->state, sizeof(*out));
		if (out->is_set)
			return 1;
	}
	return 0;
}

/* A whole address of IP, or nothing. */
static int
keep_take_addr(const struct addr *kept, struct addr *out)
{
	memset(out, 0, sizeof(*out));
	if (kept->u.sa.sa_family == AF_INET) {
		out->u.in = kept->u.in;
		out->len = sizeof(out->u.in);
	} else if (kept->u.sa.sa_family == AF_INET6) {
		out->u.in6 = kept->u.in6;
		out->len = sizeof(out->u.in6);
	}
	return kept->len == out->len && out->len;
}

int
keep_last_addr(const struct keep *k, const struct server *s, struct addr *out)
{
	struct server_kept kept;

	return find_kept_server(k, s, &kept) && kept.conf_addr == server_conf_addr(s) &&
		strcmp(kept.fqdn, s->fqdn) == 0 && !(kept.admin & SERVER_MAINT_UNRESOLVED) &&
		keep_take_addr(&kept.addr, out);
}

/* --- applying --- */

static void
restore_kept_addr(struct engine *e, struct server *s, const struct server_kept *k,
	unsigned int what)
{
	struct addr a, own;

	if (!(what & (s->fqdn ? KEEP_DNS : KEEP_STATES)) || k->conf_addr != s->kept->conf_addr ||
		(k->admin & SERVER_MAINT_UNRESOLVED) || !keep_take_addr(&k->addr, &a))
		return;
	/* A name has got its address when the configuration was read: keep_last_addr(). */
	if (s->fqdn && !s->has_last_addr && !server_names_service(s))
		return;
	(void)addr_cell_get(&s->addr, &own);
	if (!addr_is_same_host(&own, &a) || addr_port(&own) != addr_port(&a))
		server_set_addr(e, s, &a);
	if (server_is_unresolved(s))
		server_restore(e, s, s->admin & ~(unsigned int)SERVER_MAINT_UNRESOLVED);
	resolve_server_hold(s);
}

static void
restore_kept_weight(struct engine *e, struct server *s, const struct server_kept *k)
{
	if (k->conf_weight == s->conf.weight && k->weight != s->uweight && k->weight >= 0 &&
		k->weight <= SERVER_WEIGHT_MAX)
		(void)!server_set_weight(e, s, k->weight);
}

static void
restore_kept_admin(struct engine *e, struct server *s, const struct server_kept *k)
{
	unsigned int forced = k->admin & FORCED;

	if (k->conf_disabled == (uint32_t)s->conf.disabled && (s->admin & FORCED) != forced &&
		forced != FORCED)
		server_restore(e, s, (s->admin & ~FORCED) | forced);
}

/* With other bounds the state remains, at its bound. */
static int
kept_health(const struct check *c, const struct check_kept *k)
{
	if (k->rise == c->rise && k->fall == c->fall && k->health >= 0 &&
		k->health <= check_full_health(c))
		return k->health;
	return k->health >= k->rise ? check_full_health(c) : 0;
}

/* One that was enabled or disabled at run time stays so. */
static void
restore_kept_check(struct check *c, const struct check_kept *k)
{
	if (!c || !k->exists)
		return;
	c->enabled = k->enabled != 0;
	c->health = kept_health(c, k);
	c->fails = k->fails;
	c->observed_fails = k->observed_fails;
	if (k->status < 0 || k->status >= CHECK_STATUSES)
		return;
	c->status = (enum check_status)k->status;
	c->code = k->code;
	c->duration_ms = k->duration_ms;
	(void)snprintf(c->info, sizeof(c->info), "%s", k->info);
}

/* A server that has no checks any more is up; one that tracks follows the other. */
static void
restore_kept_oper(struct engine *e, struct server *s, const struct server_kept *k)
{
	enum server_oper to = (enum server_oper)k->oper;

	if (s->track || !s->check || !s->check->enabled || (k->admin & SERVER_MAINT) ||
		k->oper > SERVER_STOPPED)
		return;
	server_set_oper(e, s, to == SERVER_STARTING ? SERVER_RUNNING : to, CAUSE);
}

/* Times are of the host's clock. */
static void
restore_kept_times(struct server *s, const struct server_kept *k, uint64_t now)
{
	s->downs = k->downs;
	s->down_ms = k->down_ms;
	if (s->admin != k->admin || (server_is_running(s) != 0) != (k->oper != SERVER_STOPPED &&
		!(k->admin & SERVER_MAINT)))
		return;
	s->last_change_ms = now - age_between(k->last_change_ms, now);
	s->down_since_ms = now - age_between(k->down_since_ms, now);
}

static void
restore_server(struct process *p, struct server *s)
{
	struct engine *e = &process_first(p)->engine;
	unsigned int what = p->cfg->global.reload_keep;
	struct server_kept k;

	if (!s->kept || !find_kept_server(&p->keep, s, &k))
		return;
	if (what & KEEP_STATES)
		keep_restore_settings(p, s, &k);
	if (!s->has_file_state)
		restore_kept_addr(e, s, &k, what);
	if (!(what & KEEP_STATES))
		return;
	if (!s->has_file_state) {
		restore_kept_check(s->check, &k.check);
		restore_kept_check(s->agent, &k.agent);
		restore_kept_admin(e, s, &k);
		restore_kept_weight(e, s, &k);
		restore_kept_oper(e, s, &k);
	}
	restore_kept_times(s, &k, loop_now_ms(e->loop));
}

static void
restore_backend(struct process *p, struct proxy *be)
{
	uint64_t now = loop_now_ms(process_loop(p));
	struct proxy_kept k;

	if (!keep_find_proxy(&p->keep, be, PROXY_BE, &k))
		return;
	be->downs = k.downs;
	be->down_ms = k.down_ms;
	if (k.is_up != (proxy_usable_servers(be) != 0))
		return;
	be->last_change_ms = now - age_between(k.last_change_ms, now);
	be->down_since_ms = now - age_between(k.down_since_ms, now);
}

/* --- servers that were added at run time --- */

static struct proxy *
backend_of_key(const struct process *p, const char *key, const char **server)
{
	char name[KEEP_KEY_MAX];
	const char *nl = strchr(key, '\n');

	if (!nl || (size_t)(nl - key) >= sizeof(name))
		return NULL;
	memcpy(name, key, (size_t)(nl - key));
	name[nl - key] = '\0';
	*server = nl + 1;
	return proxies_find(&p->cfg->proxies, name, PROXY_BE);
}

static void
add_kept_server(struct process *p, struct proxy *be, char *name, char *line)
{
	struct config *cfg = p->cfg;
	char *argv[SERVER_LINE_MAX] = { name }, *rest = NULL;
	struct server_line words = { .proxies = &cfg->proxies, .registry = &cfg->registry,
		.env = &cfg->env, .be = be, .argc = 1, .argv = argv };
	struct cfg_diag d;
	struct server *s;

	for (char *w = strtok_r(line, " ", &rest); w && words.argc < SERVER_LINE_MAX;
		w = strtok_r(NULL, " ", &rest))
		argv[words.argc++] = w;
	cfg_diag_init(&d, 0);
	s = words.argc > 1 ? process_add_server(p, &words, &d) : NULL;
	if (s) {
		s->last_change_ms = s->down_since_ms = p->started_ms;
		keep_add_server(p, s, words.argc, argv);
	} else {
		report_msg(p->report, REPORT_WARNING,
			"the server '%s/%s' that was added at run time cannot be added again",
			be->name, name);
	}
	cfg_diag_fini(&d);
}

/* Re-adds run-time servers of the last process only; those it deleted stay deleted. */
static void
add_kept_servers(struct process *p)
{
	struct keep *k = &p->keep;
	const struct memfile_view *v = k->n_former ? &k->former[k->n_former - 1].view : NULL;

	for (unsigned int i = 0; v && i < v->n; i++) {
		const struct memfile_item *item = &v->item[i];
		const struct kept_server *kept = item->payload;
		char line[SERVER_KEPT_LINE], name[KEEP_KEY_MAX];
		const char *server = "";
		struct proxy *be;

		if (item->kind != KEEP_SERVER || item->len < sizeof(*kept))
			continue;
		memcpy(line, kept->state.line, sizeof(line));
		line[sizeof(line) - 1] = '\0';
		be = line[0] ? backend_of_key(p, item->key, &server) : NULL;
		if (!be || proxy_find_server(be, str_of(server)))
			continue;
		(void)snprintf(name, sizeof(name), "%s", server);
		add_kept_server(p, be, name, line);
	}
}

void
keep_restore_states(struct process *p)
{
	if (!p->keep.process)
		return;
	if (p->cfg->global.reload_keep & KEEP_STATES)
		add_kept_servers(p);
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		list_each(st, &px->servers) {
			struct server *s = list_entry(st, struct server, link);

			restore_server(p, s);
			server_note(s);
		}
		if (p->cfg->global.reload_keep & KEEP_STATES)
			restore_backend(p, px);
	}
	keep_restore_limits(p);
	list_each(it, &p->cfg->proxies.all)
		proxy_note(list_entry(it, struct proxy, link));
}

/* --- numbers --------------------------------------------------------------------------------- */

/* Numbers of the whole process that outlive it. First worker. */

/* Adds own numbers and base of a process that has ended. */
static void
add_numbers(uint64_t *base, const uint64_t *former, const struct keep_numbers *x, int is_cleared)
{
	for (unsigned int i = 0; i < x->n; i++) {
		if (!x->is_maximum(i))
			base[i] += former[i] + former[x->n + i];
		else if (!is_cleared)
			base[i] = MAX(base[i], MAX(former[i], former[x->n + i]));
	}
}

static void
join_numbers(struct keep *k, const char *name, struct keep_numbers *x, uint64_t *base)
{
	x->past[x->n_past++] = base;
	for (unsigned int f = 0; f < k->n_former; f++) {
		const struct keep_former *former = &k->former[f];
		const struct memfile_item *item =
			memfile_find(&former->view, KEEP_NUMBERS, name, "");

		if (!item || item->len < 2 * x->n * sizeof(uint64_t))
			continue;
		if (former->has_ended) {
			add_numbers(base, item->payload, x, former->is_cleared);
			continue;
		}
		x->past[x->n_past++] = item->payload;
		x->past[x->n_past++] = (const uint64_t *)item->payload + x->n;
		/* Files come in order: those before a cleared one are cleared, too. */
		if (former->is_cleared)
			x->n_cleared = x->n_past;
	}
}

int
keep_numbers(struct process *p, const char *name, unsigned int n,
	int (*is_maximum)(unsigned int i), struct keep_numbers *out)
{
	uint64_t *at = memfile_add(&p->keep.own, KEEP_NUMBERS, name, "", 2 * n * sizeof(*at));

	*out = (struct keep_numbers){ .own = at, .n = n, .is_maximum = is_maximum };
	if (!at)
		return -ERR_FULL;
	join_numbers(&p->keep, name, out, at + n);
	return 0;
}

uint64_t
keep_number_past(const struct keep_numbers *x, unsigned int i)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < x->n_past; k++) {
		uint64_t v = x->past[k][i];

		if (!x->is_maximum(i))
			sum += v;
		else if (!k || k >= x->n_cleared)
			sum = MAX(sum, v);
	}
	return sum;
}
