/* Servers that are added and removed at run time (management manual 9.3). On the first worker; the
 * others are paused meanwhile. */
#include <stdio.h>
#include <string.h>

#include "app/admin/admin_add_server.h"
#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "app/process/process_servers.h"
#include "base/atomic.h"
#include "base/err.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http2/h2_server.h"
#include "proxy/check/checker.h"
#include "proxy/model/proxy.h"

/* --- add server --- */

/* Splits "<backend>/<server>" in place. NULL after a message. */
static struct proxy *
split_name(struct admin_conn *c, char *text, char **server)
{
	char *slash = text ? strchr(text, '/') : NULL;
	struct proxy *be;

	if (!slash || slash == text || !slash[1]) {
		admin_msg(c, ADMIN_ERR, "Require 'backend/server'.");
		return NULL;
	}
	*slash = '\0';
	*server = slash + 1;
	be = admin_find_backend(&c->admin->process->cfg->proxies, text);
	if (!be)
		admin_msg(c, ADMIN_ERR, "No such backend.");
	return be;
}

/* Algorithms without a table that is made once, at start. */
static int
balances_dynamically(const struct proxy *be)
{
	return be->balance != BALANCE_STATIC_RR &&
		(!balance_hashes(be->balance) || be->hash_type.consistent);
}

/* NULL: it may be added. */
static const char *
why_not_added(const struct proxy *be, const char *name, int argc)
{
	if (!balances_dynamically(be))
		return "Backend must use a dynamic load balancing to support dynamic servers.";
	if (argc < 2)
		return "'server' expects <name> and <addr>[:<port>] as arguments.";
	if (proxy_find_server(be, str_of(name)))
		return "Already exists a server with the same name in backend.";
	return NULL;
}

/* Without the server's name at the beginning, which is in the command. */
static void
report_errors(struct admin_conn *c, const struct server_line *line, const struct cfg_diag *d)
{
	char name[CLI_LINE_MAX];
	size_t n = (size_t)snprintf(name, sizeof(name), "'server %s/%s' : ", line->be->name,
		line->argv[0]);

	for (unsigned int i = 0; i < d->nentry; i++) {
		const char *text = d->entry[i].text;

		if (d->entry[i].sev == CFG_ALERT)
			admin_msg(c, ADMIN_ERR, "%s",
				n < sizeof(name) && strncmp(text, name, n) == 0 ? text + n : text);
	}
}

/* Warnings do not stop a server. */
static void
add_and_report(struct admin_conn *c, const struct server_line *line)
{
	struct process *p = c->admin->process;
	struct cfg_diag d;
	struct server *s;

	cfg_diag_init(&d, 0);
	admin_stop_workers(c);
	s = process_add_server(p, line, &d);
	if (s) {
		s->last_change_ms = s->down_since_ms = admin_now_ms(c);
		keep_add_server(p, s, line->argc, line->argv);
	}
	admin_resume_workers(c);
	if (s)
		admin_msg(c, ADMIN_INFO, "New server registered.");
	else
		report_errors(c, line, &d);
	cfg_diag_fini(&d);
}

void
admin_cmd_add_server(struct admin_conn *c, int argc, char **argv)
{
	struct config *cfg = c->admin->process->cfg;
	char *name;
	struct proxy *be = split_name(c, argc > 0 ? argv[0] : NULL, &name);
	const char *why = be ? why_not_added(be, name, argc) : NULL;

	if (!be)
		return;
	if (why) {
		admin_msg(c, ADMIN_ERR, "%s", why);
		return;
	}
	argv[0] = name;
	add_and_report(c, &(struct server_line){ .proxies = &cfg->proxies,
			.registry = &cfg->registry, .env = &cfg->env, .be = be, .argc = argc,
			.argv = argv });
}

/* --- del server --- */

static int
has_session_of(const struct engine *e, const struct server *srv)
{
	list_each(it, &e->streams) {
		const struct stream *s = list_entry(it, const struct stream, link);

		if (s->srv == srv || s->bound == srv)
			return 1;
	}
	return 0;
}

/* The workers are paused. */
static int
is_in_use(const struct process *p, const struct server *s)
{
	if (s->cur || s->queued)
		return 1;
	for (unsigned int i = 0; i < p->n_workers; i++) {
		const struct engine *e = &p->workers[i].engine;

		if (has_session_of(e, s) || conn_pool_has_server(e, s) ||
			h2_server_exists(e, s))
			return 1;
	}
	return 0;
}

/* Returns the reason why the server cannot be removed; NULL: it can be, unless it is in use. A name
 * that is looked up counts as a reference. */
static const char *
why_not_removed(const struct server *s)
{
	if (s->is_referenced || s->dns || !list_is_empty(&s->trackers))
		return "This server cannot be removed at runtime due to other configuration "
		       "elements pointing to it.";
	if (!(s->admin & SERVER_MAINT))
		return "Only servers in maintenance mode can be deleted.";
	return NULL;
}

int
admin_check_removal(struct admin_conn *c, const struct server *s, const char **why)
{
	int in_use;

	*why = why_not_removed(s);
	if (*why)
		return -1;
	/* The workers need not be paused while it is obviously in use. */
	if (atomic_read(&s->cur) || atomic_read(&s->queued))
		return 0;
	admin_stop_workers(c);
	in_use = is_in_use(c->admin->process, s);
	admin_resume_workers(c);
	return !in_use;
}

static int
remove_server(struct process *p, struct server *s)
{
	if (is_in_use(p, s))
		return 0;
	checker_remove(p->checker, s);
	keep_remove_server(p, s);
	for (unsigned int i = 0; i < p->n_workers; i++)
		conn_pool_forget_server(&p->workers[i].engine, s);
	server_remove(&p->cfg->proxies, s);
	return 1;
}

void
admin_cmd_del_server(struct admin_conn *c, int argc, char **argv)
{
	struct server *s = admin_find_server(c, argc, argv);
	const char *why = s ? why_not_removed(s) : NULL;
	int removed;

	if (!s)
		return;
	if (why) {
		admin_msg(c, ADMIN_ERR, "%s", why);
		return;
	}
	admin_stop_workers(c);
	removed = remove_server(c->admin->process, s);
	admin_resume_workers(c);
	if (removed)
		admin_msg(c, ADMIN_INFO, "Server deleted.");
	else
		admin_msg(c, ADMIN_ERR,
			"Server still has connections attached to it, cannot remove it.");
}
