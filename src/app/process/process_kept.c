/* Under a master: the sockets of listeners are the master's, too. Before threads run. */
#include "app/process/process.h"
#include "base/err.h"
#include "net/listener.h"
#include "net/listener_key.h"

static int
is_masters(const struct process *p, const struct listener *ln)
{
	return p->master && ln->inherit_fd < 0;
}

void
process_find_kept(struct process *p, struct listener *ln)
{
	char key[LISTENER_KEY_MAX];

	if (!is_masters(p, ln) || ln->lead)
		return;
	listener_key(ln, key);
	ln->kept_fd = master_link_take(p->master, key);
}

int
process_keep(struct process *p, struct listener *ln)
{
	char key[LISTENER_KEY_MAX];
	int r;

	if (!is_masters(p, ln))
		return 0;
	ln->kept_open = 1;
	if (ln->lead)
		return 0;
	/* The master removes its path. */
	ln->made_ino = 0;
	listener_key(ln, key);
	r = master_link_keep(p->master, key, ln->fd, ln->kept_fd < 0);
	if (r)
		report_msg(p->report, REPORT_ALERT, "cannot pass the socket %s to the master: %s",
			key, err_text(r));
	return r;
}
