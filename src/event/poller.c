/* The table of pollers. Constant. */
#include "event/poller.h"

#include <string.h>

const struct poller_ops *const *
poller_all(void)
{
	static const struct poller_ops *const all[] = {
		&poller_epoll, &poller_ev_epoll, &poller_ev_poll, &poller_ev_select, NULL,
	};

	return all;
}

const struct poller_ops *
poller_find(const char *name)
{
	for (const struct poller_ops *const *p = poller_all(); *p; p++)
		if (strcmp((*p)->name, name) == 0)
			return *p;
	return NULL;
}
