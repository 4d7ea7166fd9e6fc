/* Sessions ended by the operator: shutdown session, shutdown sessions (management manual 9.3). */
#include <stdlib.h>

#include "app/admin/admin_int.h"
#include "proxy/model/session.h"
#include "proxy/session/session_life.h"

typedef int pick_fn(const struct session *s, const void *arg);

static unsigned int
end_all(struct admin_conn *c, pick_fn *pick, const void *arg)
{
	struct process *p = c->admin->process;
	unsigned int n = 0;

	admin_stop_workers(c);
	for (unsigned int i = 0; i < p->n_workers; i++)
		list_each_safe(it, &p->workers[i].engine.sessions) {
			struct session *s = list_entry(it, struct session, link);

			if (!pick(s, arg))
				continue;
			session_kill(s);
			n++;
		}
	admin_resume_workers(c);
	return n;
}

static int
has_id(const struct session *s, const void *arg)
{
	return s->id == *(const unsigned long long *)arg;
}

static void
do_session(struct admin_conn *c, int argc, char **argv)
{
	char *end = NULL;
	unsigned long long id = argc > 0 ? strtoull(argv[0], &end, 16) : 0;

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "Session pointer expected (use 'show sess').");
	else if (*end || !id || !end_all(c, has_id, &id))
		admin_msg(c, ADMIN_ERR, "No such session (use 'show sess').");
}

static int
is_on(const struct session *s, const void *arg)
{
	return s->srv == arg;
}

static void
do_sessions_server(struct admin_conn *c, int argc, char **argv)
{
	const struct server *srv = admin_find_server(c, argc, argv);

	if (srv)
		(void)end_all(c, is_on, srv);
}

const struct admin_cmd admin_shutdown_cmds[] = {
	{ "shutdown session", "<id>", "end a session, as show sess names it", BIND_ADMIN,
		do_session },
	{ "shutdown sessions server", "<bk>/<srv>", "end all sessions on a server", BIND_ADMIN,
		do_sessions_server },
	{ NULL, NULL, NULL, BIND_USER, NULL },
};
