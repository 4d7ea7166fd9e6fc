/* Gives accepted connections to a worker that is less busy. On the accepting worker; a
 * connection that cannot be handed over is served where it was accepted. */
#include "app/process/handover.h"

#include <string.h>

#include "app/process/process.h"
#include "base/atomic.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "net/listener.h"
#include "net/shards.h"

static struct worker *
worker_of(const struct listener *ln)
{
	const struct engine *e = ln->worker;

	return e->owner;
}

/* The least loaded worker, if this one is clearly busier. */
static struct listener *
least_loaded(struct listener *ln)
{
	const struct listener_group *g = ln->group;
	unsigned int mine = worker_load(worker_of(ln)), least = mine;
	struct listener *best = ln;

	for (unsigned int i = 0; i < g->n; i++) {
		unsigned int load = g->of[i] == ln ? mine : worker_load(worker_of(g->of[i]));

		if (load < least) {
			least = load;
			best = g->of[i];
		}
	}
	return mine >= least + least / 8 + HANDOVER_MARGIN ? best : ln;
}

static struct listener *
next_in_turn(struct listener *ln)
{
	struct listener_group *g = ln->group;

	return g->of[(atomic_add(&g->next, 1u) - 1) % g->n];
}

/* Runs on the taking worker's thread. */
static void
on_handed(void *worker, struct mail *m)
{
	struct worker *w = worker;
	struct addr peer;

	(void)atomic_sub(&w->coming, 1);
	memcpy(&peer.u, &m->u, sizeof(m->u));
	peer.len = m->u.sa.sa_family == AF_INET ? sizeof(m->u.in4)
		: m->u.sa.sa_family == AF_INET6 ? sizeof(m->u.in6)
						: sizeof(m->u.sa.sa_family);
	listener_take(m->arg, m->fd, &peer);
}
PROFILE_NAME(on_handed, handover_mail)

static int
hand_over(struct listener *ln, struct listener *to, int fd, const struct addr *peer)
{
	struct worker *from = worker_of(ln), *w = worker_of(to);
	struct mail m = { .fn = on_handed, .arg = to, .fd = fd };

	/* A unix client bound to a path: its address does not fit into the message. */
	if (peer->len > sizeof(m.u))
		return 0;
	memcpy(&m.u, &peer->u, peer->len);
	m.u.sa.sa_family = (sa_family_t)addr_family(peer);
	(void)atomic_add(&w->coming, 1);
	if (mailbox_post(from->mailbox, w->mailbox, &m) == 0)
		return 1;
	(void)atomic_sub(&w->coming, 1);
	return 0;
}

static int
to_least_loaded(struct listener *ln, int fd, const struct addr *peer)
{
	struct listener *to = least_loaded(ln);

	return to != ln && hand_over(ln, to, fd, peer);
}

static int
to_next_in_turn(struct listener *ln, int fd, const struct addr *peer)
{
	struct listener *to = next_in_turn(ln);

	return to != ln && hand_over(ln, to, fd, peer);
}

void
handover_enable(struct process *p, struct listener *ln)
{
	if (!ln->group || ln->group->n < 2)
		return;
	switch (p->cfg->global.multi_queue) {
	case MULTI_QUEUE_ON:
		ln->route = to_least_loaded;
		break;
	case MULTI_QUEUE_FAIR:
		ln->route = to_next_in_turn;
		break;
	case MULTI_QUEUE_OFF:
		break;
	}
}
