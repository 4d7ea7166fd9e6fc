/* libev's backends as pollers, level-triggered, on their loop's worker: for systems without epoll,
 * and to compare with. libev makes its own system calls, which the ledger does not see. */
#include <ev.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/interest.h"
#include "event/poller.h"

struct watch {
	ev_io io; /* io.fd is the descriptor */
	struct poller *owner;
	uint32_t gen;
	int used;
};

struct poller {
	struct ev_loop *ev;
	ev_timer timeout;
	struct watch **watches; /* by fd, allocated when first registered */
	int max_fd;
	struct poll_event *out;
	int n;
	int cap;
};

static void
on_timeout(struct ev_loop *ev, ev_timer *w, int revents)
{
	(void)ev;
	(void)w;
	(void)revents;
}

static void
on_libev_io(struct ev_loop *ev, ev_io *io, int revents)
{
	struct watch *w = (struct watch *)(void *)io;
	struct poller *p = w->owner;
	struct poll_event *e;

	(void)ev;
	/* Events that do not fit are reported by the next wait: level-triggered. */
	if (p->n >= p->cap)
		return;
	e = &p->out[p->n++];
	e->fd = io->fd;
	e->gen = w->gen;
	e->ev = (revents & EV_READ ? EV_R : 0) | (revents & EV_WRITE ? EV_W : 0);
	if (revents & EV_ERROR)
		e->ev |= EV_RW | EV_ERR;
}

static int
pv_open(struct poller **out, int max_fd, unsigned int backend)
{
	struct poller *p = mem_zalloc(sizeof(*p));

	if (!p)
		return -ERR_NOMEM;
	p->watches = mem_zalloc((size_t)max_fd * sizeof(*p->watches));
	if (p->watches)
		p->ev = ev_loop_new(backend | EVFLAG_NOENV | EVFLAG_NOSIGMASK);
	if (!p->ev) {
		mem_free(p->watches);
		mem_free(p);
		return -ERR_SYS;
	}
	p->max_fd = max_fd;
	ev_timer_init(&p->timeout, on_timeout, 0., 0.);
	*out = p;
	return 0;
}

static int
pv_set(struct poller *p, int fd, uint32_t gen, unsigned int old, unsigned int mask)
{
	struct watch *w = p->watches[fd];
	int events = (mask & EV_R ? EV_READ : 0) | (mask & EV_W ? EV_WRITE : 0);

	(void)old;
	if (!w) {
		w = p->watches[fd] = mem_zalloc(sizeof(*w));
		if (!w)
			return -ENOMEM;
		w->owner = p;
	}
	if (w->used)
		ev_io_stop(p->ev, &w->io);
	w->used = events != 0;
	w->gen = gen;
	if (events) {
		ev_io_init(&w->io, on_libev_io, fd, events);
		ev_io_start(p->ev, &w->io);
	}
	return 0;
}

static int
pv_wait(struct poller *p, struct poll_event *ev, int n, int ms)
{
	p->out = ev;
	p->cap = n;
	p->n = 0;
	if (ms > 0) {
		ev_now_update(p->ev);
		ev_timer_set(&p->timeout, ms / 1e3, 0.);
		ev_timer_start(p->ev, &p->timeout);
	}
	ev_run(p->ev, ms == 0 ? EVRUN_NOWAIT : EVRUN_ONCE);
	if (ms > 0)
		ev_timer_stop(p->ev, &p->timeout);
	return p->n;
}

static void
pv_close(struct poller **p)
{
	for (int fd = 0; fd < (*p)->max_fd; fd++) {
		struct watch *w = (*p)->watches[fd];

		if (w && w->used)
			ev_io_stop((*p)->ev, &w->io);
		mem_free(w);
	}
	ev_loop_destroy((*p)->ev);
	mem_free((*p)->watches);
	mem_free(*p);
	*p = NULL;
}

#define EV_POLLER(id, text, backend)                                       \
	static int pv_open_##id(struct poller **out, struct sys *sys, int max_fd) \
	{                                                                  \
		(void)sys;                                                 \
		return pv_open(out, max_fd, backend);                      \
	}                                                                  \
	const struct poller_ops poller_ev_##id = {                         \
		.name = text,                                              \
		.most_events = INT_MAX,                                    \
		.open = pv_open_##id,                                      \
		.set = pv_set,                                             \
		.wait = pv_wait,                                           \
		.close = pv_close,                                         \
	}

EV_POLLER(epoll, "ev:epoll", EVBACKEND_EPOLL);
EV_POLLER(poll, "ev:poll", EVBACKEND_POLL);
EV_POLLER(select, "ev:select", EVBACKEND_SELECT);
