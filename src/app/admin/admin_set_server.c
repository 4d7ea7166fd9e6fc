/* set server, and the state of checks (management manual 9.3). On the first worker, which owns the
 * states of servers and checks. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_resolve.h"
#include "app/admin/admin_server.h"
#include "base/mem.h"
#include "proxy/backend/server_state.h"
#include "proxy/backend/server_tls.h"
#include "proxy/model/check.h"
#include "proxy/model/server_kept.h"
#include "proxy/model/proxy.h"
#include "tls/connect.h"

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
