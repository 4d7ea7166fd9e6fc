/* States of servers that a previous worker process had. First worker, at the start, before the
 * other threads run. Each value comes from a process that may be hostile, and is verified before
 * it is used. */
#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "app/process/process_servers.h"
#include "base/err.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/check.h"
#include "proxy/model/server_kept.h"

#define CAUSE ", as before the reload"
#define FORCED (SERVER_MAINT_FORCED | SERVER_DRAIN_FORCED)

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

int
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

int
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
	s->down_ms = MIN(k->down_ms, now);
	if (s->admin != k->admin || (server_is_running(s) != 0) != (k->oper != SERVER_STOPPED &&
		!(k->admin & SERVER_MAINT)))
		return;
	s->last_change_ms = MIN(k->last_change_ms, now);
	s->down_since_ms = MIN(k->down_since_ms, now);
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
	be->down_ms = MIN(k.down_ms, now);
	if (k.is_up != (proxy_usable_servers(be) != 0))
		return;
	be->last_change_ms = MIN(k.last_change_ms, now);
	be->down_since_ms = MIN(k.down_since_ms, now);
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
