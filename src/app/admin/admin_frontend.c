/* Changes to frontends at run time (management manual 9.3): they are paused, resumed and stopped,
 * and limits are changed, those of the process too. On the first worker. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "app/process/process.h"
#include "cfg/value.h"
#include "proxy/model/server_kept.h"
#include "proxy/session/session_admit.h"

static int
is_shut_down(const struct proxy *fe)
{
	return fe->disabled || fe->listening == PROXY_STOPPED;
}

void
admin_cmd_disable_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = admin_named_proxy(c, argc, argv, PROXY_FE);

	if (!fe)
		return;
	if (is_shut_down(fe))
		admin_msg(c, ADMIN_NOTICE, "Frontend was previously shut down, cannot disable.");
	else if (fe->listening == PROXY_PAUSED || list_is_empty(&fe->binds))
		admin_msg(c, ADMIN_NOTICE, "All sockets are already disabled.");
	else
		frontend_pause(c->admin->process, fe);
}

void
admin_cmd_enable_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = admin_named_proxy(c, argc, argv, PROXY_FE);

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

void
admin_cmd_shutdown_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = admin_named_proxy(c, argc, argv, PROXY_FE);

	if (fe && is_shut_down(fe))
		admin_msg(c, ADMIN_NOTICE, "Frontend was already shut down.");
	else if (fe)
		frontend_stop(c->admin->process, fe, NULL);
}

/* --- backends that rules pass over --- */

static void
set_unpublished(struct admin_conn *c, int argc, char **argv, int unpublished)
{
	struct proxy *be = admin_named_proxy(c, argc, argv, PROXY_BE);

	if (!be)
		return;
	admin_stop_workers(c);
	be->unpublished = unpublished;
	proxies_note_unpublished(&c->admin->process->cfg->proxies);
	admin_resume_workers(c);
}

void
admin_cmd_publish_backend(struct admin_conn *c, int argc, char **argv)
{
	set_unpublished(c, argc, argv, 0);
}

void
admin_cmd_unpublish_backend(struct admin_conn *c, int argc, char **argv)
{
	set_unpublished(c, argc, argv, 1);
}

/* --- limits --- */

/* A limit was changed while the workers are paused: each of them holds its listeners or resumes
 * them. fe NULL: one of the process. */
static void
resume_workers(struct admin_conn *c, struct proxy *fe)
{
	const struct process *p = c->admin->process;

	for (unsigned int i = 0; i < p->n_workers; i++) {
		conn_limits_resume(&p->workers[i].engine, fe);
		if (!fe)
			conn_limits_stop_rates(&p->workers[i].engine);
	}
	admin_resume_workers(c);
}

static void
set_process_limit(struct admin_conn *c, unsigned int *limit, unsigned int value)
{
	admin_stop_workers(c);
	*limit = value;
	keep_note_limits(c->admin->process);
	resume_workers(c, NULL);
}

void
admin_cmd_set_maxconn_frontend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *fe = admin_named_proxy(c, argc, argv, PROXY_FE);
	int64_t n;

	if (!fe)
		return;
	if (argc < 2)
		admin_msg(c, ADMIN_ERR, "Integer value expected.");
	else if (cfg_value_int(argv[1], 0, INT32_MAX, &n, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Value out of range.");
	else {
		admin_stop_workers(c);
		fe->maxconn = n ? (int)n : PROXY_MAXCONN_NONE;
		proxy_note(fe);
		resume_workers(c, fe);
	}
}

/* 0 restores the configured value, which is the maximum. */
void
admin_cmd_set_maxconn_global(struct admin_conn *c, int argc, char **argv)
{
	struct process *p = c->admin->process;
	unsigned int most = p->limits.maxconn;
	int64_t n;

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "Expects an integer value.");
	else if (cfg_value_int(argv[0], INT32_MIN, most, &n, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Value out of range.");
	else
		set_process_limit(c, &p->shared.max_sessions, n > 0 ? (unsigned int)n : most);
}

static void
set_rate(struct admin_conn *c, struct rate_limit *r, const char *text)
{
	int64_t n;

	if (!text)
		admin_msg(c, ADMIN_ERR, "Expects an integer value.");
	else if (cfg_value_int(text, 0, INT32_MAX, &n, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Value out of range.");
	else
		set_process_limit(c, &r->max, (unsigned int)n);
}

/* In kilobytes per second. */
static void
set_compression_rate(struct admin_conn *c, const char *text)
{
	int64_t n;

	if (!text)
		admin_msg(c, ADMIN_ERR, "Expects an integer value.");
	else if (cfg_value_int(text, 0, INT32_MAX / 1024, &n, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Value out of range.");
	else
		set_process_limit(c, &c->admin->process->shared.comp_rate, (unsigned int)n * 1024);
}

void
admin_cmd_set_rate_limit(struct admin_conn *c, int argc, char **argv)
{
	struct engine_shared *sh = &c->admin->process->shared;
	const char *what = argc > 1 && strcmp(argv[1], "global") == 0 ? argv[0] : "";
	const char *value = argc > 2 ? argv[2] : NULL;

	if (strcmp(what, "connections") == 0)
		set_rate(c, &sh->conn_limit, value);
	else if (strcmp(what, "sessions") == 0)
		set_rate(c, &sh->sess_limit, value);
	else if (strcmp(what, "ssl-sessions") == 0)
		set_rate(c, &sh->tls_limit, value);
	else if (strcmp(what, "http-compression") == 0)
		set_compression_rate(c, value);
	else
		admin_msg(c, ADMIN_ERR,
			"'set rate-limit' only supports :\n"
			"   - 'connections global' to set the per-process maximum connection rate\n"
			"   - 'sessions global' to set the per-process maximum session rate\n"
			"   - 'ssl-sessions global' to set the per-process maximum SSL session "
			"rate\n"
			"   - 'http-compression global' to set the per-process maximum compression "
			"speed in kB/s");
}
