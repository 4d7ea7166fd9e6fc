/* The settings of a `bind` line, with its listeners. Made and freed while no worker runs. */
#include "net/bind_conf.h"

#include "base/mem.h"
#include "net/listener.h"

struct bind_conf *
bind_conf_new(void)
{
	struct bind_conf *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	list_init(&b->link);
	list_init(&b->listeners);
	b->uid = (uid_t)-1;
	b->gid = (gid_t)-1;
	b->level = BIND_OPERATOR;
	return b;
}

void
bind_conf_free(struct bind_conf **bp)
{
	struct bind_conf *b = *bp;

	if (!b)
		return;
	*bp = NULL;
	list_remove(&b->link);
	list_each_safe(it, &b->listeners) {
		struct listener *ln = list_entry(it, struct listener, link);

		assert(ln->fd < 0);
		list_remove(&ln->link);
		if (!ln->first)
			mem_free(ln->group);
		mem_free(ln->inherit_name);
		mem_free(ln);
	}
	if (b->tls)
		b->tls_free(&b->tls);
	mem_free(b->netns);
	mem_free(b->name);
	mem_free(b);
}
