/* Changes to frontends at run time (management manual 9.3): they are paused, resumed and stopped.
 * On the first worker. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "app/process/frontend.h"

/* The named frontend, or NULL after a message. */
static struct proxy *
named_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "A frontend name is expected.");
		return NULL;
	}
	fe = admin_find_proxy(&c->admin->process->cfg->proxies, argv[0], PROXY_FE);
	if (!fe)
		admin_msg(c, ADMIN_ERR, "No such frontend.");
	return fe;
}

static int
is_shut_down(const struct proxy *fe)
{
	return fe->disabled || fe->listening == PROXY_STOPPED;
}

static void
do_disable_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = named_frontend(c, argc, argv);

	if (!fe)
		return;
	if (is_shut_down(fe))
		admin_msg(c, ADMIN_NOTICE, "Frontend was previously shut down, cannot disable.");
	else if (fe->listening == PROXY_PAUSED || list_is_empty(&fe->binds))
		admin_msg(c, ADMIN_NOTICE, "All sockets are already disabled.");
	else
		frontend_pause(c->admin->process, fe);
}

static void
do_enable_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = named_frontend(c, argc, argv);

	if (!fe)
		return;
	if (is_shut_down(fe))
		admin_msg(c, ADMIN_ERR, "Frontend was previously shut down, cannot enable.");
	else if (fe->listening == PROXY_LISTENS)
		admin_msg(c, ADMIN_NOTICE, "All sockets are already enabled.");
	else if (frontend_resume(c->admin->process, fe) < 0)
		admin_msg(c, ADMIN_ERR,
			"Failed to resume frontend, check logs for precise cause (port "
			"conflict?).");
}

static void
do_shutdown_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = named_frontend(c, argc, argv);

	if (fe && is_shut_down(fe))
		admin_msg(c, ADMIN_NOTICE, "Frontend was already shut down.");
	else if (fe)
		frontend_stop(c->admin->process, fe);
}

const struct admin_cmd admin_frontend_cmds[] = {
	{ "disable frontend", "<frontend>", "temporarily disable specific frontend", BIND_ADMIN,
		do_disable_frontend },
	{ "enable frontend", "<frontend>", "re-enable specific frontend", BIND_ADMIN,
		do_enable_frontend },
	{ "shutdown frontend", "<frontend>", "stop a specific frontend", BIND_ADMIN,
		do_shutdown_frontend },
	{ NULL, NULL, NULL, BIND_USER, NULL },
};
