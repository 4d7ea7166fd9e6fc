/* Sockets of listeners that other processes opened or will take over: the master, the process that
 * this one replaces. Before threads run. */
#include "app/process/process.h"
#include "base/err.h"
#include "net/addr.h"
#include "net/listener.h"
#include "net/listener_key.h"
#include "net/overlap.h"

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

/* The descriptor that a listener will get, or -1: a new one. */
static int
open_socket_of(const struct process *p, const struct listener *ln)
{
	const struct inherited_socket *s;
	char key[LISTENER_KEY_MAX];

	if (ln->inherit_fd >= 0 || !p->inherited)
		return ln->inherit_fd;
	listener_key(ln, key);
	s = inherited_find(p->inherited, key);
	return s ? s->fd : -1;
}

void
process_permit_overlap(const struct process *p, struct listener *ln)
{
	if (!ln->overlaps || ln->overlap_root || ln->first)
		return;
	for (const struct listener *l = ln; l; l = l->overlap_next) {
		int fd = open_socket_of(p, l);

		if (fd < 0)
			continue;
		/* A failure shows when the next one binds. */
		(void)!overlap_permit(p->sys, fd);
		ln->port_kept = 1;
	}
}

/* A socket whose listener this process does not have, or has not bound yet. */
static int
holds_address_of(struct sys *sys, struct inherited_socket *s, const struct listener *ln)
{
	struct addr a;

	if (s->taken || s->fd < 0 || (s->port >= 0 && s->port != (int)addr_port(&ln->addr)))
		return 0;
	if (addr_of_socket(sys, s->fd, &a) < 0)
		return 0;
	s->port = (int)addr_port(&a);
	return s->port != 0 && s->port == (int)addr_port(&ln->addr) &&
		(addr_is_any(&a) || addr_is_any(&ln->addr) || addr_is_same_host(&a, &ln->addr));
}

int
process_join_inherited(const struct process *p, struct listener *ln)
{
	unsigned int joined = 0;

	for (const struct listener *l = ln; p->inherited && l; l = l->overlap_next)
		for (unsigned int i = 0; i < p->inherited->n; i++) {
			struct inherited_socket *s = &p->inherited->v[i];

			joined += holds_address_of(p->sys, s, l) &&
				overlap_permit(p->sys, s->fd) == 0;
		}
	if (joined)
		ln->reuseport = ln->port_kept = 1;
	return joined != 0;
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
