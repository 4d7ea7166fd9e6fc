/* Changes to servers at run time, state and weight; show servers state, show backend, clear
 * counters (management manual 9.3). On the first worker, which owns the states of servers. */
#include "app/admin/admin_server.h"

#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "cfg/value.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/check.h"
#include "proxy/model/proxies.h"
#include "proxy/model/proxy.h"
#include "proxy/session/session.h"
#include "proxy/session/session_walk.h"
#include "tls/tls_counts.h"

/* Backends and servers are identified by name, or by id as #N: the id, or 0. */
static int
number_of(const char *text)
{
	int64_t id;

	return text[0] == '#' && cfg_value_int(text + 1, 1, INT32_MAX, &id, NULL) == 0 ? (int)id
										       : 0;
}

/* By name or id; of one of these capabilities (PROXY_x). NULL: none. */
static struct proxy *
find_proxy_of(const struct proxies *ps, const char *text, unsigned int caps)
{
	struct proxy *p = proxies_find(ps, text, caps);
	int id = number_of(text);

	if (!p && id)
		p = proxies_find_id(ps, id);
	return p && (p->caps & caps) ? p : NULL;
}

struct proxy *
admin_find_backend(const struct proxies *ps, const char *text)
{
	return find_proxy_of(ps, text, PROXY_BE);
}

struct proxy *
admin_named_proxy(struct admin_conn *c, int argc, char **argv, unsigned int cap)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	const char *kind = cap & PROXY_FE ? "frontend" : "backend";
	struct proxy *p = argc > 0 ? find_proxy_of(ps, argv[0], cap) : NULL;

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "A %s name is expected.", kind);
	else if (!p)
		admin_msg(c, ADMIN_ERR, "No such %s.", kind);
	return p;
}

struct server *
admin_find_any_server(struct admin_conn *c, int argc, char **argv)
{
	char *slash = argc > 0 ? strchr(argv[0], '/') : NULL;
	struct proxy *be;
	int id;

	if (!slash) {
		admin_msg(c, ADMIN_ERR, "Require 'backend/server'.");
		return NULL;
	}
	*slash = '\0';
	be = admin_find_backend(&c->admin->process->cfg->proxies, argv[0]);
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

struct server *
admin_find_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_any_server(c, argc, argv);

	if (!s || (!s->be->disabled && s->be->listening != PROXY_STOPPED))
		return s;
	admin_msg(c, ADMIN_ERR, "Proxy is disabled.");
	return NULL;
}

void
admin_cmd_enable_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		server_set_forced(&c->admin->worker->engine, s, SERVER_READY);
}

void
admin_cmd_disable_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		server_set_forced(&c->admin->worker->engine, s, SERVER_MAINT_FORCED);
}

void
admin_cmd_get_weight(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_any_server(c, argc, argv);

	if (s)
		sbuf_addf(&c->out, "%d (initial %d)\n", s->uweight, s->conf.weight);
}

/* Appends text as HAProxy writes it: no empty line follows. */
static void
add_unfinished(struct admin_conn *c, const char *text)
{
	admin_severity(c, ADMIN_ERR);
	sbuf_adds(&c->out, text);
}

/* 0 with *weight, or -1 after one of HAProxy's messages; the first two end with one line feed. */
static int
parse_weight(struct admin_conn *c, const struct server *s, const char *text, int *weight)
{
	char *end;
	long n = strtol(text, &end, 10);
	int percent = strcmp(end, "%") == 0;

	if (end == text)
		add_unfinished(c, "Empty weight string empty or preceded by garbage");
	else if (*end && !percent)
		add_unfinished(c, "Trailing garbage in weight string");
	else if (percent && n < 0)
		admin_msg(c, ADMIN_ERR, "Relative weight must be positive.");
	else if (!percent && (n < 0 || n > SERVER_WEIGHT_MAX))
		admin_msg(c, ADMIN_ERR, "Absolute weight can only be between 0 and 256 inclusive.");
	else {
		*weight = percent ? server_weight_of(s, MIN(n, (long)INT32_MAX)) : (int)n;
		return 0;
	}
	return -1;
}

/* "N" sets the weight, "N%" sets that percentage of the configured one, limited to the maximum. */
void
admin_set_weight(struct admin_conn *c, struct server *s, const char *text)
{
	int weight;

	if (!text || !*text)
		admin_msg(c, ADMIN_ERR, "Require <weight> or <weight%%>.");
	else if (parse_weight(c, s, text, &weight) == 0 &&
		server_set_weight(&c->admin->worker->engine, s, weight) < 0)
		admin_msg(c, ADMIN_ERR,
			"Backend is using a static LB algorithm and only accepts weights '0%%' "
			"and '100%%'.");
}

void
admin_cmd_set_weight(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s)
		admin_set_weight(c, s, argc > 1 ? argv[1] : NULL);
}

void
admin_cmd_set_maxconn_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);
	int64_t n;

	if (s && argc < 2)
		admin_msg(c, ADMIN_ERR, "Require <maxconn>.");
	else if (s && cfg_value_int(argv[1], 0, INT32_MAX, &n, NULL) < 0)
		add_unfinished(c, "maxconn string empty or preceded by garbage");
	else if (s)
		server_set_maxconn(&c->admin->worker->engine, s, (int)n);
}

/* --- walks over servers --- */

/* Begins a walk over the backend that argv[0] names, argc 0: all. 0, or -1 after a message. */
static int
admin_servers_begin(struct admin_conn *c, int argc, char **argv, struct admin_servers *w)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;

	*w = (struct admin_servers){ .proxy = ps->all.next };
	if (argc < 1)
		return 0;
	w->only = admin_find_backend(ps, argv[0]);
	if (w->only)
		return 0;
	admin_msg(c, ADMIN_ERR, "Can't find backend.");
	return -1;
}

/* The next server, or NULL. */
static const struct server *
admin_servers_next(struct admin_conn *c, struct admin_servers *w)
{
	while (w->proxy != &c->admin->process->cfg->proxies.all) {
		const struct proxy *p = list_entry(w->proxy, struct proxy, link);
		const struct server *s = NULL;

		if (!w->only || p == w->only)
			s = server_walk_next(p, &w->server);
		if (s)
			return s;
		w->proxy = w->proxy->next;
		w->server = (struct server_walk){ 0 };
	}
	return NULL;
}

/* The IP address, "-" without one. */
static void
admin_print_host(struct sbuf *o, const struct addr *a)
{
	char host[ADDR_TEXT] = "-";

	if (a->len && addr_family(a) != AF_UNIX)
		(void)addr_host_text(a, host);
	sbuf_adds(o, host);
}

/* --- show servers conn --- */

static void
print_conns(struct sbuf *o, const struct server *s)
{
	unsigned int idle, safe;
	struct server_stat sum;
	struct addr own;

	(void)addr_cell_get(&s->addr, &own);
	conn_pool_count(s, &idle, &safe);
	server_stat_sum(s, &sum);
	sbuf_addf(o, "%s/%s %d/%d ", s->be->name, s->name, s->be->id, s->id);
	admin_print_host(o, &own);
	sbuf_addf(o, " %u - %u %u %u %u %u %u %d %u", addr_port(&own), s->conf.pool_purge_ms,
		atomic_read(&s->cur), counter_read(&sum.cur_max), conn_pool_needed(s), idle - safe,
		safe, s->conf.pool_max, idle);
	for (unsigned int i = 0; i < s->be->n_shards; i++)
		sbuf_addf(o, " %u", atomic_read(&s->shard[i].idle.n));
	sbuf_addc(o, '\n');
}

static int
next_conns(struct admin_conn *c, void *walk)
{
	const struct server *s = admin_servers_next(c, walk);

	if (s)
		print_conns(&c->out, s);
	return s != NULL;
}

/* One number per worker at the end of each line. */
void
admin_cmd_show_servers_conn(struct admin_conn *c, int argc, char **argv)
{
	struct admin_servers w;

	if (admin_servers_begin(c, argc, argv, &w) < 0)
		return;
	sbuf_addf(&c->out,
		"# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est "
		"unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[%u]\n",
		c->admin->process->n_workers);
	admin_walk(c, next_conns, &w, sizeof(w));
}

/* --- cookies --------------------------------------------------------------------------------- */

/*
 * Dynamic cookies of a backend at run time (management manual 9.3). On the first worker; others
 * read cookies without a lock.
 */

static void
switch_cookies(struct admin_conn *c, int argc, char **argv, int on)
{
	struct proxy *be = admin_named_proxy(c, argc, argv, PROXY_BE);

	if (!be)
		return;
	be->persist.dynamic.is_on = on;
	dynamic_cookies_set(be);
}

void
admin_cmd_enable_dynamic_cookie_backend(struct admin_conn *c, int argc, char **argv)
{
	switch_cookies(c, argc, argv, 1);
}

void
admin_cmd_disable_dynamic_cookie_backend(struct admin_conn *c, int argc, char **argv)
{
	switch_cookies(c, argc, argv, 0);
}

void
admin_cmd_set_dynamic_cookie_key_backend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *be = admin_named_proxy(c, argc, argv, PROXY_BE);
	char *key;

	if (!be)
		return;
	if (argc < 2 || !*argv[1]) {
		admin_msg(c, ADMIN_ERR, "String value expected.");
		return;
	}
	if (strlen(argv[1]) > DYNAMIC_COOKIE_KEY_MAX) {
		admin_msg(c, ADMIN_ERR, "The key is longer than %d bytes.",
			DYNAMIC_COOKIE_KEY_MAX);
		return;
	}
	key = mem_strdup(argv[1]);
	if (!key) {
		admin_msg(c, ADMIN_ERR, "Failed to allocate memory for new dynamic cookie key");
		return;
	}
	mem_free(be->persist.dynamic.key);
	be->persist.dynamic.key = key;
	dynamic_cookies_set(be);
}

/* --- shutdown -------------------------------------------------------------------------------- */

/*
 * Sessions ended by the operator: shutdown session, shutdown sessions (management manual 9.3).
 */

/* Sessions closed, and examined for it, in one turn of the worker. */
#define ENDS_PER_VISIT 100
#define LOOKS_PER_VISIT 2000

/* Each session is closed by its own worker. */
struct end_tour {
	struct admin_tour tour;
	session_pick_fn *pick;
	unsigned long long id;
	const struct server *srv;
	uint32_t slots; /* server.slots when the command was given */
	unsigned int ended;
};

static int
has_id(const struct stream *s, const void *arg)
{
	return s->id == ((const struct end_tour *)arg)->id;
}

/* Sessions that waited for those that end here get their slots, and are to be served. */
static int
was_on(const struct stream *s, const void *arg)
{
	const struct end_tour *t = arg;

	return stream_is_on(s, t->srv) && (s->has_left || (int32_t)(s->slot - t->slots) <= 0);
}

static void
end_one(struct stream *s, void *arg)
{
	struct end_tour *t = arg;

	stream_kill(s, 'K');
	t->ended++;
}

static void
end_sessions(struct admin_conn *c, struct worker *w, void *state)
{
	struct end_tour *t = state;
	struct session_walk walk = {
		.after = t->tour.after,
		.pick = t->pick,
		.pick_arg = t,
		.fn = end_one,
		.fn_arg = t,
		.max = ENDS_PER_VISIT,
		.max_looks = LOOKS_PER_VISIT,
	};

	t->tour.is_done = !engine_walk(&w->engine, &walk);
	t->tour.after = walk.after;
	if (t->tour.is_done && w->index == c->admin->process->n_workers - 1 && !t->srv && !t->ended)
		admin_msg(c, ADMIN_ERR, "No such session (use 'show sess').");
}

void
admin_cmd_shutdown_session(struct admin_conn *c, int argc, char **argv)
{
	struct end_tour t = { .tour.visit = end_sessions, .pick = has_id };
	char *end = NULL;

	t.id = argc > 0 ? strtoull(argv[0], &end, 16) : 0;
	if (!t.id || *end)
		admin_msg(c, ADMIN_ERR, "Session pointer expected (use 'show sess').");
	else
		admin_tour(c, &t, sizeof(t));
}

void
admin_cmd_shutdown_sessions_server(struct admin_conn *c, int argc, char **argv)
{
	struct end_tour t = { .tour.visit = end_sessions, .pick = was_on };

	t.srv = admin_find_server(c, argc, argv);
	if (!t.srv)
		return;
	t.slots = atomic_read(&t.srv->slots);
	admin_tour(c, &t, sizeof(t));
}

/* --- show servers state --- */

/* Bits of srv_check_state and srv_agent_state. */
enum {
	STATE_RUNNING = 1,
	STATE_CONFIGURED = 2,
	STATE_ENABLED = 4,
	STATE_PAUSED = 8,
	STATE_AGENT = 16
};

/* Bits of srv_admin_state. */
static unsigned int
admin_bits(const struct server *s)
{
	static const struct {
		unsigned int own, shown;
	} bits[] = {
		{ SERVER_MAINT_FORCED, 0x01 },
		{ SERVER_MAINT_TRACKED, 0x02 },
		{ SERVER_DRAIN_FORCED, 0x08 },
		{ SERVER_DRAIN_TRACKED, 0x10 },
		{ SERVER_MAINT_UNRESOLVED, 0x20 },
	};
	/* `disabled` in the configuration is shown for ever. */
	unsigned int out = s->conf.disabled ? 0x04 : 0;

	for (size_t i = 0; i < ARRAY_LEN(bits); i++)
		if (s->admin & bits[i].own)
			out |= bits[i].shown;
	return out;
}

static unsigned int
oper_number(const struct server *s)
{
	static const unsigned int numbers[] = {
		[SERVER_STOPPED] = 0, [SERVER_STARTING] = 1, [SERVER_RUNNING] = 2,
		[SERVER_STOPPING] = 3
	};

	return s->admin & SERVER_MAINT ? 0 : numbers[s->oper];
}

static unsigned int
check_bits(const struct check *c)
{
	if (!c)
		return 0;
	return STATE_CONFIGURED | (c->enabled ? STATE_ENABLED : 0u) |
		(c->is_running ? STATE_RUNNING : 0u) | (c->is_agent ? STATE_AGENT : 0u);
}

/* A server that is `disabled` has paused checks even if it has none. */
static unsigned int
pause_bit(const struct server *s)
{
	int paused = s->check ? (s->admin & SERVER_MAINT) != 0 : s->conf.disabled;

	return paused ? STATE_PAUSED : 0;
}

static int
shown_health(const struct server *s)
{
	if (s->admin & SERVER_MAINT)
		return 0;
	return s->check ? s->check->health : s->conf.check.rise;
}

/* " <status> <result> <health> <check> <agent>" */
static void
print_check_state(struct sbuf *o, const struct server *s)
{
	enum check_status status = s->check ? s->check->status : CHECK_INI;
	/* The result of a check that is running is not known yet. */
	int known = s->check && !s->check->is_running;

	sbuf_addf(o, " %u %u %d %u %u", check_status_number(status),
		known ? (unsigned int)check_status_result(status) : 0, shown_health(s),
		check_bits(s->check) | pause_bit(s), check_bits(s->agent));
}

/* " <srvrecord> <use_ssl> <check_port> <check_addr> <agent_addr> <agent_port>" */
static void
print_check_target(struct sbuf *o, const struct server *s)
{
	const struct check_server_conf *c = &s->conf.check;
	const struct server_tls_conf *tls = &s->conf.tls;

	sbuf_addf(o, " - %d %u ", tls->is_on ? 1 : tls->is_off ? -1 : 0, c->port);
	admin_print_host(o, &c->addr);
	sbuf_addc(o, ' ');
	admin_print_host(o, &c->agent_addr);
	/* Without agent-port it is the port of checks. */
	sbuf_addf(o, " %u\n", c->agent_port ? c->agent_port : c->port);
}

/* The port, also of a server whose name has no address: that of its last one, unless it was an SRV
 * record's, which is gone. */
static unsigned int
server_port(const struct server *s, const struct addr *own)
{
	if (s->spec.has_offset)
		return (unsigned int)s->spec.port_offset;
	return server_is_unresolved(s) && !(own->len && s->fqdn) ? s->spec.port_lo
								 : addr_port(own);
}

static void
print_server(struct admin_conn *c, const struct server *s)
{
	struct addr own, none = { .len = 0 };
	struct sbuf *o = &c->out;

	(void)addr_cell_get(&s->addr, &own);
	sbuf_addf(o, "%d %s %d %s ", s->be->id, s->be->name, s->id, s->name);
	admin_print_host(o, server_is_unresolved(s) ? &none : &own);
	sbuf_addf(o, " %u %u %d %d %llu", oper_number(s), admin_bits(s), s->uweight, s->conf.weight,
		(unsigned long long)((admin_now_ms(c) - s->last_change_ms) / 1000));
	print_check_state(o, s);
	sbuf_addf(o, " %d %d %s %u", s->be->has_own_id, s->has_own_id, s->fqdn ? s->fqdn : "-",
		server_port(s, &own));
	print_check_target(o, s);
}

static int
next_state(struct admin_conn *c, void *walk)
{
	const struct server *s = admin_servers_next(c, walk);

	if (s)
		print_server(c, s);
	return s != NULL;
}

void
admin_cmd_show_servers_state(struct admin_conn *c, int argc, char **argv)
{
	struct admin_servers w;

	if (admin_servers_begin(c, argc, argv, &w) < 0)
		return;
	sbuf_adds(&c->out,
		"1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state "
		"srv_uweight srv_iweight srv_time_since_last_change srv_check_status "
		"srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id "
		"srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port "
		"srv_check_addr srv_agent_addr srv_agent_port\n");
	admin_walk(c, next_state, &w, sizeof(w));
}

/* --- show backend --- */

void
admin_cmd_show_backend(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sbuf_adds(&c->out, "# name\n");
	list_each(it, &c->admin->process->cfg->proxies.all) {
		const struct proxy *p = list_entry(it, struct proxy, link);

		if (p->caps & PROXY_BE)
			sbuf_addf(&c->out, "%s\n", p->name);
	}
}

/* --- clear counters --- */

static void
clear_maxima(struct worker *w)
{
	w->engine.stat.conn_rate.max = 0;
	w->engine.stat.sess_rate.max = 0;
	if (w->tls)
		tls_io_clear_maxima(w->tls);
}

static void
clear_counters(struct admin_conn *c, int all)
{
	const struct process *p = c->admin->process;

	admin_stop_workers(c);
	list_each(it, &p->cfg->proxies.all)
		proxy_clear_stat(list_entry(it, struct proxy, link), all);
	for (unsigned int i = 0; i < p->n_workers; i++)
		clear_maxima(&p->workers[i]);
	keep_clear(c->admin->process, all);
	admin_resume_workers(c);
}

void
admin_cmd_clear_counters(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	clear_counters(c, 0);
}

void
admin_cmd_clear_counters_all(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	clear_counters(c, 1);
}
