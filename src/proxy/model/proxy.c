/* A proxy: defaults, inheritance, freeing. Main thread; proxy.h documents the locks of what
 * changes later. */
#include "proxy/model/proxy.h"

#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/bind_conf.h"
#include "net/listener.h"

struct listener *
proxy_next_listener(const struct proxy *fe, const struct listener *after)
{
	struct list *line = after ? &after->bind->link : fe->binds.next;
	struct list *at = after ? after->link.next : NULL;

	for (; line != &fe->binds; line = line->next, at = NULL) {
		struct bind_conf *b = list_entry(line, struct bind_conf, link);

		for (at = at ? at : b->listeners.next; at != &b->listeners; at = at->next) {
			struct listener *ln = list_entry(at, struct listener, link);

			if (!ln->first)
				return ln;
		}
	}
	return NULL;
}

struct server *
proxy_find_server(const struct proxy *be, struct str name)
{
	list_each(it, &be->servers) {
		struct server *srv = list_entry(it, struct server, link);

		if (str_is(str_of(srv->name), name))
			return srv;
	}
	return NULL;
}

const char *
proxy_kind(const struct proxy *p)
{
	return (p->caps & PROXY_FE) && (p->caps & PROXY_BE) ? "proxy"
		: p->caps & PROXY_FE                        ? "frontend"
							    : "backend";
}

const char *
proxy_file(const struct proxy *p)
{
	return p->where.file ? p->where.file->name : "?";
}

unsigned int
proxy_usable_servers(const struct proxy *be)
{
	return atomic_read(&be->lb.usable);
}

unsigned int
proxy_splice(const struct proxy *fe, const struct proxy *be)
{
	unsigned int on = fe->options | be->options, off = fe->no_options | be->no_options;

	if (fe->mode == PROXY_TCP && !(off & OPT_SPLICE_AUTO))
		on |= OPT_SPLICE_AUTO;
	return on & OPT_SPLICES;
}
