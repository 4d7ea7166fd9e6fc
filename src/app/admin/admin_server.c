/* Changes to servers at run time: state and weight (management manual 9.3). */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_resolve.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "cfg/value.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/queue.h"
#include "proxy/backend/server_report.h"
#include "proxy/backend/server_control.h"

/* Backends and servers are identified by name, or by id as #N: the id, or 0. */
static int
number_of(const char *text)
{
	int64_t id;

	return text[0] == '#' && cfg_value_int(text + 1, 1, INT32_MAX, &id, NULL) == 0 ? (int)id
										       : 0;
}

static struct proxy *
find_backend(const struct proxies *ps, const char *text)
{
	struct proxy *p = proxies_find(ps, text, PROXY_BE);
	int id = number_of(text);

	if (!p && id)
		p = proxies_find_id(ps, id);
	return p && (p->caps & PROXY_BE) ? p : NULL;
}

struct server *
admin_find_server(struct admin_conn *c, int argc, char **argv)
{
	char *slash = argc > 0 ? strchr(argv[0], '/') : NULL;
	struct proxy *be;
	int id;

	if (!slash) {
		admin_msg(c, ADMIN_ERR, "Require 'backend/server'.");
		return NULL;
	}
	*slash = '\0';
	be = find_backend(&c->admin->process->cfg->proxies, argv[0]);
	*slash = '/';
	if (!be) {
		admin_msg(c, ADMIN_ERR, "No such backend.");
		return NULL;
	}
	id = number_of(slash + 1);
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (strcmp(s->name, slash + 1) == 0 || s->id == id)
			return s;
	}
	admin_msg(c, ADMIN_ERR, "No such server.");
	return NULL;
}

static void
change_state(struct admin_conn *c, struct server *s, enum server_admin to)
{
	struct server_before before;

	admin_stop_workers(c);
	before = server_before(s);
	server_set_admin(s, to, admin_now_ms(c));
	if (to == SERVER_MAINT)
		conn_pool_drop_server(s);
	queue_serve(&c->admin->worker->engine, s->be);
	server_report(&c->admin->worker->engine, s, &before);
	admin_resume_workers(c);
}

static void
do_enable(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		change_state(c, s, SERVER_UP);
}

static void
do_disable(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		change_state(c, s, SERVER_MAINT);
}

static void
do_get_weight(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		sbuf_addf(&c->out, "%d (initial %d)\n", s->uweight, s->conf.weight);
}

/* "N" sets the weight, "N%" sets that percentage of the configured one, limited to the maximum. */
static void
set_weight(struct admin_conn *c, struct server *s, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct server_before before;
	char num[16];
	int64_t w;
	int r, relative, percent = len > 1 && text[len - 1] == '%';

	if (!len || len >= sizeof(num)) {
		admin_msg(c, ADMIN_ERR, "Require <weight> or <weight%%>.");
		return;
	}
	memcpy(num, text, len + 1);
	if (percent)
		num[len - 1] = '\0';
	if (cfg_value_int(num, 0, percent ? INT32_MAX : SERVER_WEIGHT_MAX, &w, NULL) < 0) {
		admin_msg(c, ADMIN_ERR,
			"Absolute weight can only be between 0 and 256 inclusive, relative weight "
			"must be positive.");
		return;
	}
	relative = (int)MIN(s->conf.weight * w / 100, (int64_t)SERVER_WEIGHT_MAX);
	admin_stop_workers(c);
	before = server_before(s);
	r = server_set_weight(s, percent ? relative : (int)w);
	if (r == 0) {
		queue_serve(&c->admin->worker->engine, s->be);
		server_report(&c->admin->worker->engine, s, &before);
	}
	admin_resume_workers(c);
	if (r < 0)
		admin_msg(c, ADMIN_ERR,
			"Backend is using a static LB algorithm and only accepts weights '0%%' "
			"and '100%%'.");
}

static void
do_set_weight(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		set_weight(c, s, argc > 1 ? argv[1] : NULL);
}

static void
set_addr(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	if (argc > 0)
		admin_set_addr(c, s, argc, argv);
	else
		admin_msg(c, ADMIN_ERR,
			"set server <b>/<s> addr requires an address and optionally a port.");
}

static void
set_fqdn(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	if (argc > 0)
		admin_set_fqdn(c, s, argv[0]);
	else
		admin_msg(c, ADMIN_ERR, "set server <b>/<s> fqdn requires a FQDN.");
}

static void
do_set_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (!s)
		return;
	if (argc == 3 && strcmp(argv[1], "weight") == 0)
		set_weight(c, s, argv[2]);
	else if (argc == 3 && strcmp(argv[1], "state") == 0 && strcmp(argv[2], "ready") == 0)
		change_state(c, s, SERVER_UP);
	else if (argc == 3 && strcmp(argv[1], "state") == 0 && strcmp(argv[2], "drain") == 0)
		change_state(c, s, SERVER_DRAIN);
	else if (argc == 3 && strcmp(argv[1], "state") == 0 && strcmp(argv[2], "maint") == 0)
		change_state(c, s, SERVER_MAINT);
	else if (argc >= 2 && strcmp(argv[1], "addr") == 0)
		set_addr(c, s, argc - 2, argv + 2);
	else if (argc >= 2 && strcmp(argv[1], "fqdn") == 0)
		set_fqdn(c, s, argc - 2, argv + 2);
	else
		admin_msg(c, ADMIN_ERR,
			"'set server <srv>' only supports 'state ready|drain|maint', 'weight "
			"<n>', 'addr' and 'fqdn'.");
}

/* --- show servers conn --- */

static void
print_conns(struct admin_conn *c, const struct server *s)
{
	char host[ADDR_TEXT] = "-";
	unsigned int idle, safe;
	struct server_stat sum;
	struct addr a;

	conn_pool_count(s, &idle, &safe);
	server_stat_sum(s, &sum);
	(void)addr_cell_get(&s->addr, &a);
	if (addr_family(&a) != AF_UNIX)
		(void)addr_host_text(&a, host);
	sbuf_addf(&c->out, "%s/%s %d/%d %s %u - %u %u %u %u %u %u %d %u", s->be->name, s->name,
		s->be->id, s->id, host, addr_port(&a), s->conf.pool_purge_ms,
		atomic_read(&s->cur), counter_read(&sum.cur_max), conn_pool_needed(s), idle - safe,
		safe, s->conf.pool_max, idle);
	for (unsigned int i = 0; i < s->be->n_shards; i++)
		sbuf_addf(&c->out, " %u", atomic_read(&s->shard[i].idle.n));
	sbuf_addc(&c->out, '\n');
}

struct conn_walk {
	const struct proxy *only; /* NULL: all */
	struct list *proxy;
	struct list *server;      /* NULL: the first one */
};

static int
next_conns(struct admin_conn *c, void *state)
{
	struct conn_walk *w = state;
	const struct proxy *p = list_entry(w->proxy, struct proxy, link);

	if (w->proxy == &c->admin->process->cfg->proxies.all)
		return 0;
	if (!w->server)
		w->server = p->servers.next;
	if (w->server == &p->servers || (w->only && p != w->only)) {
		w->proxy = w->proxy->next;
		w->server = NULL;
	} else {
		print_conns(c, list_entry(w->server, struct server, link));
		w->server = w->server->next;
	}
	return 1;
}

/* One number per worker at the end of each line. */
static void
do_show_conn(struct admin_conn *c, int argc, char **argv)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	struct conn_walk w = { .proxy = ps->all.next };

	w.only = argc > 0 ? find_backend(ps, argv[0]) : NULL;
	if (argc > 0 && !w.only) {
		admin_msg(c, ADMIN_ERR, "Can't find backend.");
		return;
	}
	sbuf_addf(&c->out,
		"# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est "
		"unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[%u]\n",
		c->admin->process->n_workers);
	admin_walk(c, next_conns, &w, sizeof(w));
}

const struct admin_cmd admin_server_cmds[] = {
	{ "enable server", "<bk>/<srv>", "enable a disabled server", BIND_ADMIN, do_enable },
	{ "disable server", "<bk>/<srv>", "disable a server for maintenance", BIND_ADMIN,
		do_disable },
	{ "get weight", "<bk>/<srv>", "report a server's current weight", BIND_USER,
		do_get_weight },
	{ "set weight", "<bk>/<srv> <n>[%]", "change a server's weight", BIND_ADMIN,
		do_set_weight },
	{ "set server", "<bk>/<srv> state|weight|addr|fqdn ...",
		"change a server's state, weight, address or name", BIND_ADMIN, do_set_server },
	{ "show servers conn", "[<backend>]", "dump the connections of servers, idle ones too",
		BIND_USER, do_show_conn },
	{ NULL, NULL, NULL, BIND_USER, NULL },
};
