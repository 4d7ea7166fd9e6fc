/* set server, and the state of checks (management manual 9.3). On the first worker, which owns the
 * states of servers and checks. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "base/mem.h"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/backend/server_tls.h"
#include "proxy/model/check.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server_kept.h"
#include "proxy/resolve/resolve.h"

#define BY "'stats socket command'"
#define CHANGE_MAX 512

/* --- show resolvers --- */

static void
print_nameserver(struct admin_conn *c, const struct dns_nameserver *ns)
{
	const struct dns_nameserver_stat *st = &ns->stat;

	sbuf_addf(&c->out, " nameserver %s:\n", ns->name);
#define DNS_STAT(member, name) \
	sbuf_addf(&c->out, "  %-12s %llu\n", name ":", (unsigned long long)st->member);
#include "dns/stat.tbl.h"
#undef DNS_STAT
}

struct resolvers_walk {
	const struct resolvers *only; /* NULL: all */
	struct list *section;
	struct list *nameserver;      /* NULL: the title comes next */
};

static int
next_resolvers(struct admin_conn *c, void *state)
{
	struct resolvers_walk *w = state;
	struct list *all = &c->admin->process->cfg->proxies.resolvers;
	struct resolvers *res = list_entry(w->section, struct resolvers, link);

	if (w->section == all)
		return 0;
	if (w->only && res != w->only) {
		w->section = w->section->next;
	} else if (!w->nameserver) {
		sbuf_addf(&c->out, "Resolvers section %s\n", res->name);
		w->nameserver = res->nameservers.next;
	} else if (w->nameserver != &res->nameservers) {
		print_nameserver(c, list_entry(w->nameserver, struct dns_nameserver, link));
		w->nameserver = w->nameserver->next;
	} else {
		w->section = w->section->next;
		w->nameserver = NULL;
	}
	return 1;
}

void
admin_cmd_show_resolvers(struct admin_conn *c, int argc, char **argv)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	struct resolvers_walk w = { .section = ps->resolvers.next };

	if (argc > 0)
		w.only = proxies_find_resolvers(ps, argv[0]);
	if (argc > 0 && !w.only) {
		admin_msg(c, ADMIN_ERR, "Can't find that resolvers section");
		return;
	}
	admin_walk(c, next_resolvers, &w, sizeof(w));
}

/* --- set server addr --- */

/* The port of an answer: "80", or "+10" while it is the client's port plus an offset. */
static void
add_port(struct sbuf *b, const struct server *s, const struct addr *a)
{
	if (s->spec.has_offset)
		sbuf_addf(b, "%+d", s->spec.port_offset);
	else
		sbuf_addf(b, "%u", addr_port(a));
}

/* A decimal port: 0, -ERR_SYNTAX, or -ERR_RANGE. */
static int
admin_parse_port(const char *text, unsigned int *port)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end)
		return -ERR_SYNTAX;
	if (n < 0 || n > 65535)
		return -ERR_RANGE;
	*port = (unsigned int)n;
	return 0;
}

/* The part of the answer about the port, which is set in *a. 1: it is another one. */
static int
take_port(const struct server *s, const char *text, struct addr *a, struct sbuf *b)
{
	unsigned int port;

	if (*text == '+' || *text == '-') {
		sbuf_adds(b,
			"can't change <port> to port map because it is incompatible with current "
			"health check port configuration (use 'port' statement from the 'server' "
			"directive.");
		return 0;
	}
	if (admin_parse_port(text, &port) < 0) {
		sbuf_addf(b, "problem converting port '%.40s' to an int", text);
		return 0;
	}
	if (!s->spec.has_offset && port == addr_port(a)) {
		sbuf_adds(b, "no need to change the port");
		return 0;
	}
	sbuf_adds(b, "port changed from '");
	add_port(b, s, a);
	sbuf_addf(b, "' to '%u'", port);
	addr_set_port(a, port);
	return 1;
}

static void
apply_addr(struct admin_conn *c, struct server *s, const struct addr *a, int port_is_fixed)
{
	struct engine *e = &c->admin->worker->engine;

	if (port_is_fixed && s->spec.has_offset) {
		admin_stop_workers(c);
		s->spec.has_offset = 0;
		s->spec.port_offset = 0;
		admin_resume_workers(c);
	}
	server_set_addr(e, s, a);
	server_set_admin(e, s, SERVER_MAINT_UNRESOLVED, 0, "");
}

/* argv: <address> [port <port>] */
static void
admin_set_addr(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	char text[CHANGE_MAX], was[ADDR_TEXT] = "(none)", host[ADDR_TEXT];
	int has_port = argc > 1 && strcmp(argv[1], "port") == 0, moved, port_changed = 0;
	struct addr own, to;
	struct sbuf b;

	(void)addr_cell_get(&s->addr, &own);
	if (addr_parse_ip(argv[0], &to) < 0) {
		admin_msg(c, ADMIN_NOTICE, "Invalid addr '%.200s' by " BY, argv[0]);
		return;
	}
	if (addr_family(&own) == AF_UNIX) {
		admin_msg(c, ADMIN_NOTICE,
			"Update for the current server address family is only supported through "
			"configuration file by " BY);
		return;
	}
	sbuf_init_fixed(&b, text, sizeof(text));
	moved = server_is_unresolved(s) || !addr_is_same_host(&own, &to);
	if (own.len && !server_is_unresolved(s))
		(void)addr_host_text(&own, was);
	if (moved)
		sbuf_addf(&b, "IP changed from '%s' to '%s'", was,
			addr_host_text(&to, host));
	else
		sbuf_adds(&b, "no need to change the addr");
	addr_set_port(&to, own.len ? addr_port(&own) : s->spec.port_lo);
	if (has_port) {
		sbuf_adds(&b, ", ");
		port_changed = take_port(s, argc > 2 ? argv[2] : "", &to, &b);
	}
	if (moved || port_changed)
		apply_addr(c, s, &to, port_changed);
	admin_msg(c, ADMIN_NOTICE, "%s by " BY, text);
}

/* --- set server fqdn --- */

static void
admin_set_fqdn(struct admin_conn *c, struct server *s, const char *fqdn)
{
	char was[DNS_NAME_MAX + 1];

	if (!s->dns) {
		admin_msg(c, ADMIN_NOTICE,
			"set server <b>/<s> fqdn failed because no resolution is configured.");
		return;
	}
	if (s->fqdn && strcmp(s->fqdn, fqdn) == 0) {
		admin_msg(c, ADMIN_NOTICE, "no need to change the FDQN by " BY);
		return;
	}
	(void)snprintf(was, sizeof(was), "%s", s->fqdn ? s->fqdn : "(null)");
	if (resolve_server_rename(s, fqdn) < 0)
		admin_msg(c, ADMIN_NOTICE, "could not update %s/%s FQDN by " BY, s->be->name,
			s->name);
	else
		admin_msg(c, ADMIN_NOTICE, "%s/%s changed its FQDN from %s to %s by " BY,
			s->be->name, s->name, was, fqdn);
}

#define FROM_CLI ", changed from CLI"

static struct engine *
engine_of(struct admin_conn *c)
{
	return &c->admin->worker->engine;
}

/* --- states --- */

static void
set_state(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	const char *to = argc > 0 ? argv[0] : "";

	if (strcmp(to, "ready") == 0)
		server_set_forced(engine_of(c), s, SERVER_READY);
	else if (strcmp(to, "drain") == 0)
		server_set_forced(engine_of(c), s, SERVER_DRAIN_FORCED);
	else if (strcmp(to, "maint") == 0)
		server_set_forced(engine_of(c), s, SERVER_MAINT_FORCED);
	else
		admin_msg(c, ADMIN_ERR,
			"'set server <srv> state' expects 'ready', 'drain' and 'maint'.");
}

static void
put_health(struct check *check, int health)
{
	if (check)
		check->health = health;
}

static void
set_health(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	const char *to = argc > 0 ? argv[0] : "";
	int full = s->check ? check_full_health(s->check) : 0;

	if (s->track) {
		admin_msg(c, ADMIN_ERR, "cannot change health on a tracking server.");
	} else if (strcmp(to, "up") == 0) {
		put_health(s->check, full);
		server_set_oper(engine_of(c), s, SERVER_RUNNING, FROM_CLI);
	} else if (strcmp(to, "stopping") == 0) {
		put_health(s->check, full);
		server_set_oper(engine_of(c), s, SERVER_STOPPING, FROM_CLI);
	} else if (strcmp(to, "down") == 0) {
		put_health(s->check, 0);
		server_set_oper(engine_of(c), s, SERVER_STOPPED, FROM_CLI);
	} else {
		admin_msg(c, ADMIN_ERR,
			"'set server <srv> health' expects 'up', 'stopping', or 'down'.");
	}
}

static void
set_agent(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	const char *to = argc > 0 ? argv[0] : "";

	if (!s->agent || !s->agent->enabled) {
		admin_msg(c, ADMIN_ERR, "agent checks are not enabled on this server.");
	} else if (strcmp(to, "up") == 0) {
		put_health(s->agent, check_full_health(s->agent));
		if (!s->check || s->check->health >= s->check->rise)
			server_set_oper(engine_of(c), s, SERVER_RUNNING, FROM_CLI);
	} else if (strcmp(to, "down") == 0) {
		put_health(s->agent, 0);
		server_set_oper(engine_of(c), s, SERVER_STOPPED, FROM_CLI);
	} else {
		admin_msg(c, ADMIN_ERR, "'set server <srv> agent' expects 'up' or 'down'.");
	}
}

/* --- targets of checks --- */

/* HAProxy ends answers about addresses with one line feed only. 0 or a negative reason. */
static int
take_check_port(struct admin_conn *c, const char *text, unsigned int *port)
{
	int r = admin_parse_port(text, port);

	if (r == -ERR_SYNTAX)
		sbuf_adds(&c->out, "provided port is not an integer");
	else if (r)
		sbuf_adds(&c->out, "provided port is invalid");
	return r;
}

/* <ip> [port <port>] */
static void
take_check_target(struct admin_conn *c, int argc, char **argv, struct addr *to, unsigned int *port)
{
	const char *text = argc > 0 ? argv[0] : "";
	struct addr a;

	if (addr_parse_ip(text, &a) < 0)
		sbuf_addf(&c->out, "invalid addr '%s'", text);
	else if (argc > 1 && strcmp(argv[1], "port") == 0 &&
		take_check_port(c, argc > 2 ? argv[2] : "", port) < 0)
		return;
	else
		*to = a;
}

static int
require_checks(struct admin_conn *c, const struct check *check, const char *what)
{
	if (check)
		return 1;
	sbuf_addf(&c->out, "%s checks are not enabled on this server", what);
	return 0;
}

static void
set_check_addr(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	if (require_checks(c, s->check, "health"))
		take_check_target(c, argc, argv, &s->conf.check.addr, &s->conf.check.port);
}

static void
set_check_port(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	if (require_checks(c, s->check, "health"))
		(void)take_check_port(c, argc > 0 ? argv[0] : "", &s->conf.check.port);
}

static void
set_agent_addr(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	if (require_checks(c, s->agent, "agent"))
		take_check_target(
			c, argc, argv, &s->conf.check.agent_addr, &s->conf.check.agent_port);
}

static void
set_agent_port(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	if (require_checks(c, s->agent, "agent"))
		(void)take_check_port(c, argc > 0 ? argv[0] : "", &s->conf.check.agent_port);
}

static void
set_agent_send(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	char *text;

	if (!s->agent) {
		admin_msg(c, ADMIN_ERR, "agent checks are not enabled on this server.");
		return;
	}
	text = mem_strdup(argc > 0 ? argv[0] : "");
	if (!text) {
		admin_msg(c, ADMIN_ERR, "cannot allocate memory for new string.");
		return;
	}
	mem_free(s->conf.check.agent_send);
	s->conf.check.agent_send = text;
}

static void
set_weight(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	admin_set_weight(c, s, argc > 0 ? argv[0] : NULL);
}

/* --- its address --- */

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

/* --- TLS --- */

static void
set_ssl(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	const char *to = argc > 0 ? argv[0] : "";
	int on = strcmp(to, "on") == 0;

	if (!server_may_use_tls(s)) {
		admin_msg(c, ADMIN_NOTICE,
			"'set server <srv> ssl' cannot be set.  default-server should define ssl "
			"settings");
	} else if (!on && strcmp(to, "off") != 0) {
		admin_msg(c, ADMIN_ERR, "'set server <srv> ssl' expects 'on' or 'off'.");
	} else {
		admin_stop_workers(c);
		server_set_tls(engine_of(c), s, on);
		admin_resume_workers(c);
		admin_msg(c, ADMIN_NOTICE, "server ssl setting updated.");
	}
}

/* --- the command --- */

static const struct {
	const char *word;
	void (*fn)(struct admin_conn *c, struct server *s, int argc, char **argv);
} parts[] = {
	{ "addr", set_addr },
	{ "agent", set_agent },
	{ "agent-addr", set_agent_addr },
	{ "agent-port", set_agent_port },
	{ "agent-send", set_agent_send },
	{ "check-addr", set_check_addr },
	{ "check-port", set_check_port },
	{ "fqdn", set_fqdn },
	{ "health", set_health },
	{ "ssl", set_ssl },
	{ "state", set_state },
	{ "weight", set_weight },
};

void
admin_cmd_set_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (!s)
		return;
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(parts); i++)
		if (strcmp(argv[1], parts[i].word) == 0) {
			parts[i].fn(c, s, argc - 2, argv + 2);
			server_note(s);
			return;
		}
	admin_msg(c, ADMIN_ERR,
		"usage: set server <backend>/<server> addr | agent | agent-addr | agent-port | "
		"agent-send | check-addr | check-port | fqdn | health | ssl | state | weight");
}

/* --- enable and disable --- */

void
admin_cmd_enable_health(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s && !s->check)
		admin_msg(c, ADMIN_ERR,
			"Health check was not configured on this server, cannot enable.");
	else if (s)
		check_set_enabled(s->check, 1);
}

void
admin_cmd_disable_health(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s && s->check)
		check_set_enabled(s->check, 0);
}

void
admin_cmd_enable_agent(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s && !s->agent)
		admin_msg(c, ADMIN_ERR, "Agent was not configured on this server, cannot enable.");
	else if (s)
		check_set_enabled(s->agent, 1);
}

void
admin_cmd_disable_agent(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);

	if (s && s->agent)
		check_set_enabled(s->agent, 0);
}
