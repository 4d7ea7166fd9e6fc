/* Invalid messages kept for `show errors`. On any worker; nothing is allocated or freed under the
 * lock. */
#include "proxy/model/invalid_msg.h"

#include "base/mem.h"

struct invalid_msg *
invalid_msg_new(size_t n)
{
	return mem_zalloc(sizeof(struct invalid_msg) + n);
}

void
invalid_msg_keep(struct invalid_msgs *all, struct invalid_msg *m, struct sys *sys)
{
	struct invalid_msg *old;

	lock_take(&all->lock, sys);
	old = all->last;
	if (!old || old->event < m->event) {
		all->last = m;
		m = old;
	}
	lock_drop(&all->lock);
	mem_free(m);
}

struct invalid_msg *
invalid_msg_take(struct invalid_msgs *all, struct sys *sys)
{
	struct invalid_msg *m;

	lock_take(&all->lock, sys);
	m = all->last;
	all->last = NULL;
	lock_drop(&all->lock);
	return m;
}

void
invalid_msg_give_back(struct invalid_msgs *all, struct invalid_msg *m, struct sys *sys)
{
	if (m)
		invalid_msg_keep(all, m, sys);
}

void
invalid_msgs_fini(struct invalid_msgs *all)
{
	mem_free(all->last);
	all->last = NULL;
}
