/*
 * epoll as in Linux: a ready list that wake-ups append to; each wait checks the actual state;
 * level-triggered items go back to the end of the list, edge-triggered ones do not.
 */
#include <stdio.h>
#include <string.h>

#include "fake/kernel_int.h"

/* This many waits without progress are a busy loop. */
#define BUSY_WAITS 200
/* The maximum counter of an eventfd. */
#define EVENTFD_FULL (UINT64_MAX - 1)

uint32_t
fake_file_poll(struct fake_file *f)
{
	if (f->kind == FAKE_KIND_SOCK)
		return fake_sock_poll(f->sock);
	if (f->kind == FAKE_KIND_SIGNAL)
		return f->pending ? EPOLLIN | EPOLLRDNORM : 0;
	if (f->kind == FAKE_KIND_EVENT)
		return (f->count ? EPOLLIN : 0) | (f->count < EVENTFD_FULL ? EPOLLOUT : 0);
	/* pipes are not polled */
	return 0;
}

static void
item_make_ready(struct fake_item *it)
{
	if (list_is_empty(&it->in_ready))
		list_append(&it->ep->ready, &it->in_ready);
}

void
fake_file_wake(struct fake_file *f, uint32_t key)
{
	list_each(n, &f->items) {
		struct fake_item *it = list_entry(n, struct fake_item, in_file);

		if (key == 0 || (it->events & key))
			item_make_ready(it);
	}
}

static void
item_drop(struct fake_item *it)
{
	list_remove(&it->in_ready);
	list_remove(&it->in_file);
	list_remove(&it->in_ep);
	fake_release(it);
}

void
fake_items_drop(struct list *head, int of_file)
{
	list_each_safe(n, head) {
		if (of_file)
			item_drop(list_entry(n, struct fake_item, in_file));
		else
			item_drop(list_entry(n, struct fake_item, in_ep));
	}
}

const char *
fake_epoll_text(uint32_t events, char *buf, size_t len)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ EPOLLIN, "IN" },	 { EPOLLOUT, "OUT" }, { EPOLLRDHUP, "RDHUP" },
		{ EPOLLHUP, "HUP" },	 { EPOLLERR, "ERR" }, { EPOLLPRI, "PRI" },
		{ EPOLLET, "ET" },	 { EPOLLONESHOT, "ONESHOT" },
		{ EPOLLEXCLUSIVE, "EXCLUSIVE" },
	};
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((events & names[i].bit) && n < len)
			n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? "|" : "",
			    names[i].name);
	if (!n)
		snprintf(buf, len, "0");
	return buf;
}

long
fake_epoll_ctl(struct fake *k, int ep, int op, int fd, struct epoll_event *ev)
{
	struct fake_file *e = fake_file_of(k, ep), *f = fake_file_of(k, fd);
	struct fake_item *it = NULL;

	if (!e || !f)
		return -EBADF;
	if (e->kind != FAKE_KIND_EPOLL || f == e)
		return -EINVAL;
	list_each(n, &f->items)
		if (list_entry(n, struct fake_item, in_file)->ep == e->ep)
			it = list_entry(n, struct fake_item, in_file);
	if (op == EPOLL_CTL_ADD && it)
		return -EEXIST;
	if (op != EPOLL_CTL_ADD && !it)
		return -ENOENT;
	if (op == EPOLL_CTL_DEL) {
		item_drop(it);
		f->deleted_in_wait = (int)k->waits + 1;
		return 0;
	}
	if (op == EPOLL_CTL_ADD) {
		it = fake_zalloc(sizeof(*it));
		it->ep = e->ep;
		it->file = f;
		list_append(&f->items, &it->in_file);
		list_append(&e->ep->items, &it->in_ep);
		list_init(&it->in_ready);
	}
	it->events = ev->events | EPOLLERR | EPOLLHUP;
	it->data = ev->data;
	if (fake_file_poll(f) & it->events)
		item_make_ready(it);
	return 0;
}

/* Takes up to n ready events, in the order Linux gives them. */
static int
collect(struct fake *k, struct fake_epoll *ep, struct epoll_event *ev, int n)
{
	struct list batch, *node;
	char text[64];
	int got = 0;
	size_t len = 0;

	list_init(&batch);
	while (!list_is_empty(&ep->ready)) {
		node = ep->ready.next;
		list_remove(node);
		list_append(&batch, node);
	}
	while (!list_is_empty(&batch) && got < n) {
		struct fake_item *it = list_first(&batch, struct fake_item, in_ready);
		uint32_t now;

		list_remove(&it->in_ready);
		now = fake_file_poll(it->file) & it->events;
		if (!now)
			continue;
		ev[got].events = now;
		ev[got].data = it->data;
		got++;
		if (!(it->events & EPOLLET))
			list_append(&ep->ready, &it->in_ready);
		if (len < sizeof(k->reply))
			len += (size_t)snprintf(k->reply + len, sizeof(k->reply) - len, " %d:%s",
			    it->file->fd, fake_epoll_text(now, text, sizeof(text)));
	}
	/* items that did not fit stay first */
	while (!list_is_empty(&batch)) {
		node = batch.prev;
		list_remove(node);
		node->next = ep->ready.next;
		node->prev = &ep->ready;
		ep->ready.next->prev = node;
		ep->ready.next = node;
	}
	return got;
}

static void
watch_for_busy(struct fake *k)
{
	if (k->wait_at != k->now || k->progress != k->progress_at_wait)
		k->idle_waits = 0;
	else if (++k->idle_waits == BUSY_WAITS)
		fake_blame(k, FAKE_BUSY);
	k->wait_at = k->now;
	k->progress_at_wait = k->progress;
}

long
fake_epoll_wait(struct fake *k, int fd, struct epoll_event *ev, int n, int ms)
{
	struct fake_file *f = fake_file_of(k, fd);
	uint64_t until = ms < 0 ? UINT64_MAX : k->now + (uint64_t)ms * FAKE_MS;

	if (!f)
		return -EBADF;
	if (f->kind != FAKE_KIND_EPOLL || n <= 0)
		return -EINVAL;
	k->waits++;
	k->empty_waits += k->moves == k->moves_at_wait;
	k->moves_at_wait = k->moves;
	k->quiet = 0;
	watch_for_busy(k);
	for (;;) {
		int got;

		if (fake_run_due(k))
			k->idle_waits = 0;
		got = collect(k, f->ep, ev, n);
		if (got)
			return got;
		if (k->n_tasks > 1) {
			if (until <= k->now)
				return 0;
			k->quiet = fake_task_wait(f->ep, NULL, until);
			k->call = SYS_CALL_epoll_wait;
			if (k->quiet)
				return -EINTR;
			continue;
		}
		if (!k->heap_n && until == UINT64_MAX) {
			/* a real kernel would sleep for ever */
			k->quiet = 1;
			return -EINTR;
		}
		if (k->heap_n && k->heap[0].at <= until) {
			k->now = k->heap[0].at;
			continue;
		}
		k->quiet = !k->heap_n;
		k->now = until;
		return 0;
	}
}
