/* Questions of rules, on the first worker: looked up, and sent back to the worker of their session.
 * One that is in `active` watches a lookup. */
#include "base/mem.h"
#include "dns/resolvers.h"
#include "event/profile.h"
#include "proxy/model/dns_ask.h"
#include "proxy/resolve/resolve.h"

/* --- answers --- */

static void
send_back(struct dns_ask *a)
{
	struct dns_asks *all = a->of;
	struct engine *e = all->first;
	unsigned int worker = a->worker;

	dns_lookup_unwatch(&a->watch);
	list_remove(&a->link);
	lock_take(&all->lock, e->sys);
	list_append(&all->done[worker], &a->link);
	lock_drop(&all->lock);
	/* The question may belong to another worker now. */
	if (worker == e->index)
		loop_post(e->loop, &all->task);
	else
		e->wake_asks(e, worker);
}

static void
take_first_addr(struct dns_ask *a, const struct dns_answer *answer)
{
	if (answer->n)
		a->addr = list_first(&answer->items, struct dns_item, link)->record.addr;
}

static void
on_asked_answer(struct dns_watch *w, struct dns_nameserver *by)
{
	struct dns_ask *a = container_of(w, struct dns_ask, watch);

	(void)by;
	take_first_addr(a, &w->lookup->answer);
	send_back(a);
}

static void
on_asked_failure(struct dns_watch *w, enum dns_status status)
{
	(void)status;
	send_back(container_of(w, struct dns_ask, watch));
}

/* --- questions --- */

static void
look_up_asked(struct dns_ask *a)
{
	const struct dns_answer *known;

	a->watch.on_answer = on_asked_answer;
	a->watch.on_failure = on_asked_failure;
	list_append(&a->of->active, &a->link);
	switch (dns_lookup_ask(a->res, a->name, a->prefer, &a->watch, &known)) {
	case 0:
		return;
	case 1:
		take_first_addr(a, known);
		break;
	default:
		break;
	}
	send_back(a);
}

void
resolve_take_asks(struct dns_asks *all)
{
	struct engine *e = all->first;
	struct list todo;

	list_init(&todo);
	lock_take(&all->lock, e->sys);
	list_move_all(&all->todo, &todo);
	lock_drop(&all->lock);
	while (!list_is_empty(&todo)) {
		struct dns_ask *a = list_first(&todo, struct dns_ask, link);

		list_remove(&a->link);
		look_up_asked(a);
	}
}

/* --- life --- */

static void
on_asks(struct task *t)
{
	struct dns_asks *all = container_of(t, struct dns_asks, task);

	resolve_take_asks(all);
	dns_ask_collect(all->first);
}
PROFILE_NAME(on_asks, asks_task)

void
resolve_asks_start(struct dns_asks *all, struct engine *first)
{
	task_init(&all->task, on_asks);
	all->lock = (struct lock){ 0 };
	list_init(&all->active);
	list_init(&all->todo);
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		list_init(&all->done[i]);
	first->shared->asks = all;
	all->first = first;
}

static void
free_asks(struct list *l)
{
	while (!list_is_empty(l)) {
		struct dns_ask *a = list_first(l, struct dns_ask, link);

		list_remove(&a->link);
		dns_lookup_unwatch(&a->watch);
		mem_free(a);
	}
}

void
resolve_asks_stop(struct dns_asks *all)
{
	task_cancel(&all->task);
	all->first->shared->asks = NULL;
	all->first = NULL;
	free_asks(&all->active);
	free_asks(&all->todo);
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		free_asks(&all->done[i]);
}
