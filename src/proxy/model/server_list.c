/* The list of a backend's servers. It changes on the first worker while the others are paused.
 * Serials ascend in it. */
#include "proxy/model/server_list.h"

void
server_list_append(struct proxy *be, struct server *s)
{
	s->serial = ++be->last_serial;
	list_append(&be->servers, &s->link);
	be->n_servers++;
}

void
server_list_remove(struct proxy *be, struct server *s)
{
	list_remove(&s->link);
	be->n_servers--;
	be->removals++;
}

static struct list *
find_after(const struct proxy *be, uint64_t serial)
{
	list_each(it, &be->servers) {
		if (list_entry(it, struct server, link)->serial > serial)
			return it;
	}
	return NULL;
}

struct server *
server_walk_next(const struct proxy *be, struct server_walk *w)
{
	struct server *s;

	if (!w->next || w->next == &be->servers || w->removals != be->removals)
		w->next = find_after(be, w->after);
	if (!w->next)
		return NULL;
	s = list_entry(w->next, struct server, link);
	w->after = s->serial;
	w->next = s->link.next;
	w->removals = be->removals;
	return s;
}
