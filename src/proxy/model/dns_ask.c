/* Questions of rules to name servers, on the worker of their session. After dns_ask_new() and until
 * it is done only `session` may be used here. */
#include "proxy/model/dns_ask.h"

#include <string.h>

#include "base/mem.h"
#include "proxy/model/session.h"
#include "proxy/model/stream_extras.h"

struct dns_ask *
dns_ask_new(struct stream *s, const struct rule *by, struct resolvers *res, const char *name,
	enum dns_type prefer)
{
	struct engine *e = s->engine;
	struct dns_asks *all = e->shared->asks;
	struct stream_extras *own = s->extras;
	struct dns_ask *a = own && all && all->first ? mem_zalloc(sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	if (dns_name_set(a->name, name) < 0) {
		mem_free(a);
		return NULL;
	}
	a->worker = e->index;
	a->stream = s;
	a->by = by;
	a->next = own->asks;
	own->asks = a;
	a->res = res;
	a->prefer = prefer;
	a->of = all;
	list_init(&a->link);
	dns_watch_init(&a->watch);
	lock_take(&all->lock, e->sys);
	list_append(&all->todo, &a->link);
	lock_drop(&all->lock);
	if (e == all->first)
		loop_post(e->loop, &all->task);
	else
		e->hooks.wake_asks(e, all->first->index);
	return a;
}

struct dns_ask *
dns_ask_find(const struct stream *s, const struct rule *by)
{
	struct dns_ask *a = s->extras ? s->extras->asks : NULL;

	while (a && a->by != by)
		a = a->next;
	return a;
}

int
dns_ask_is_pending(const struct stream *s)
{
	const struct dns_ask *a = s->extras ? s->extras->asks : NULL;

	while (a && a->is_done)
		a = a->next;
	return a != NULL;
}

void
dns_ask_drop(struct stream *s, struct dns_ask *a)
{
	struct dns_ask **at = &s->extras->asks;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	a->stream = NULL;
	if (a->is_done)
		mem_free(a);
}

void
dns_ask_drop_all(struct stream *s)
{
	while (s->extras && s->extras->asks)
		dns_ask_drop(s, s->extras->asks);
}

void
dns_ask_collect(struct engine *e)
{
	struct dns_asks *all = e->shared->asks;
	struct list done;

	list_init(&done);
	lock_take(&all->lock, e->sys);
	list_move_all(&all->done[e->index], &done);
	lock_drop(&all->lock);
	while (!list_is_empty(&done)) {
		struct dns_ask *a = list_first(&done, struct dns_ask, link);

		list_remove(&a->link);
		a->is_done = 1;
		if (a->stream)
			e->hooks.on_resolved(a->stream);
		else
			mem_free(a);
	}
}
