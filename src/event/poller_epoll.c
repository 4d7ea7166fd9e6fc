/* epoll, the default poller, on its loop's worker. Level- or edge-triggered as each registration
 * requires. */
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/interest.h"
#include "event/poller.h"

#define BATCH_MAX 1024

struct poller {
	struct sys *sys;
	int ep;
	struct epoll_event batch[BATCH_MAX];
};

static int
pe_open(struct poller **out, struct sys *sys, int max_fd)
{
	struct poller *p = mem_zalloc(sizeof(*p));
	long r;

	(void)max_fd;
	if (!p)
		return -ERR_NOMEM;
	r = sys_epoll_create1(sys, EPOLL_CLOEXEC);
	if (r < 0) {
		mem_free(p);
		return (int)r;
	}
	p->sys = sys;
	p->ep = (int)r;
	*out = p;
	return 0;
}

static int
pe_set(struct poller *p, int fd, uint32_t gen, unsigned int old, unsigned int mask)
{
	struct epoll_event ev = { .data.u64 = (uint64_t)gen << 32 | (uint32_t)fd };
	int op = !(old & EV_RW) ? EPOLL_CTL_ADD : !(mask & EV_RW) ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

	if (mask & EV_R)
		ev.events |= EPOLLIN | EPOLLRDHUP | EPOLLPRI;
	if (mask & EV_W)
		ev.events |= EPOLLOUT;
	if (mask & EV_EDGE)
		ev.events |= EPOLLET;
	/* Such a registration can be added and removed but not changed, and allows few other
	 * flags. */
	if ((mask & EV_EXCLUSIVE) && op == EPOLL_CTL_ADD)
		ev.events = EPOLLIN | EPOLLEXCLUSIVE;
	return (int)sys_epoll_ctl(p->sys, p->ep, op, fd, &ev);
}

/* The events of the lowest bits, all but EPOLLRDHUP. */
#define EV_OF(e)                                                                          \
	((e) & EPOLLPRI ? EV_URGENT | EV_R : 0) | ((e) & EPOLLIN ? EV_R : 0) |            \
		((e) & EPOLLOUT ? EV_W : 0) | ((e) & EPOLLHUP ? EV_HUP | EV_RW : 0) |     \
		((e) & EPOLLERR ? EV_ERR : 0)
#define EV_OF_4(e) EV_OF(e), EV_OF((e) + 1), EV_OF((e) + 2), EV_OF((e) + 3)

static const uint8_t ev_of_low[] = { EV_OF_4(0), EV_OF_4(4), EV_OF_4(8), EV_OF_4(12), EV_OF_4(16),
	EV_OF_4(20), EV_OF_4(24), EV_OF_4(28) };
_Static_assert((EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP) == ARRAY_LEN(ev_of_low) - 1,
	"the lowest bits");

static inline uint32_t
ev_of(uint32_t e)
{
	return ev_of_low[e & (ARRAY_LEN(ev_of_low) - 1)] |
		(e & EPOLLRDHUP ? EV_RDHUP | EV_R : 0);
}

static int
pe_wait(struct poller *p, struct poll_event *ev, int n, int ms)
{
	int r;

	assert(n <= BATCH_MAX);
	r = (int)sys_epoll_wait(p->sys, p->ep, p->batch, n, ms);

	for (int i = 0; i < r; i++) {
		ev[i].fd = (int)(uint32_t)p->batch[i].data.u64;
		ev[i].gen = (uint32_t)(p->batch[i].data.u64 >> 32);
		ev[i].ev = ev_of(p->batch[i].events);
	}
	return r;
}

static void
pe_close(struct poller **p)
{
	(void)sys_close((*p)->sys, (*p)->ep);
	mem_free(*p);
	*p = NULL;
}

const struct poller_ops poller_epoll = {
	.name = "epoll",
	.has_edge = 1,
	.has_errors = 1,
	.close_forgets = 1,
	.most_events = BATCH_MAX,
	.open = pe_open,
	.set = pe_set,
	.wait = pe_wait,
	.close = pe_close,
};
