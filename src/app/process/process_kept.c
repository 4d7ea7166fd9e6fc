/* Sockets of listeners that other processes opened or will go on with: the master, the process that
 * this one replaces. Before threads run. */
#include "app/process/process.h"
#include "base/err.h"
#include "net/listener.h"
#include "net/listener_key.h"

struct inherited_socket *
process_find_kept(struct process *p, struct listener *ln)
{
	struct inherited_socket *s;
	char key[LISTENER_KEY_MAX];

	if (!p->inherited || ln->inherit_fd >= 0 || ln->lead)
		return NULL;
	listener_key(ln, key);
	s = inherited_take(p->inherited, key);
	if (s)
		ln->kept_fd = s->fd;
	return s;
}

int
process_keep(struct process *p, struct listener *ln, const struct inherited_socket *s)
{
	char key[LISTENER_KEY_MAX];
	int r;

	if (!p->master || ln->inherit_fd >= 0)
		return 0;
	ln->kept_open |= LISTENER_KEPT_MASTER;
	if (ln->lead)
		return 0;
	/* The master removes its path. */
	ln->made_ino = 0;
	listener_key(ln, key);
	r = master_link_keep(p->master, key, ln->fd, !s || s->from != INHERITED_MASTER);
	if (r)
		report_msg(p->report, REPORT_ALERT, "cannot pass the socket %s to the master: %s",
			key, err_text(r));
	return r;
}
