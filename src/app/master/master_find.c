/* Look-ups among worker processes. Master process, one thread. */
#include "app/master/master.h"

struct worker_process *
master_find_worker(const struct master *m, enum worker_state state)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == state)
			return w;
	}
	return NULL;
}

struct worker_process *
master_find_pid(const struct master *m, pid_t pid)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->own.pid == pid)
			return w;
	}
	return NULL;
}
