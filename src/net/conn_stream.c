/* Delivers the events of connections without a descriptor, on the worker that owns them. */
#include "net/conn_stream.h"

#include <string.h>

#include "event/profile.h"

/* As many useless deliveries end a stream as useless wake-ups a descriptor. */
#define STREAM_SPINS_MAX 1000u

/* Returns the events that are worth a call of the handler. */
static uint32_t
events_due(const struct conn_stream *st)
{
	return (st->ready & st->x.wanted) | (st->news & (uint8_t)~EV_RW);
}

static void
on_stream_task(struct task *t)
{
	struct conn_stream *st = container_of(t, struct conn_stream, task);
	uint32_t ev = events_due(st);

	st->news = 0;
	if (!ev)
		return;
	if (++st->idle_tries > STREAM_SPINS_MAX)
		ev = EV_SPIN;
	st->x.fn(st->x.owner, -1, ev);
}
PROFILE_NAME(on_stream_task, stream_io)

void
conn_stream_open(struct conn *c, struct conn_stream *st, const struct conn *below, loop_fd_fn *fn,
	void *owner)
{
	const struct xprt_ops *ops = st->x.ops;

	memset(st, 0, sizeof(*st));
	st->x.ops = ops;
	st->x.fn = fn;
	st->x.owner = owner;
	st->x.is_up = 1;
	st->loop = below->loop;
	st->below = below;
	task_init(&st->task, on_stream_task);
	conn_init(c);
	c->loop = below->loop;
	c->xprt = &st->x;
	c->nodelay = 1;
}

void
conn_stream_report(struct conn_stream *st, uint32_t ev)
{
	/* An error ends waiting in both directions. */
	if (ev & EV_ERR)
		ev |= EV_RW;
	st->ready |= (uint8_t)(ev & EV_RW);
	st->seen |= (uint8_t)(ev & (EV_RDHUP | EV_HUP | EV_ERR));
	st->news |= (uint8_t)ev;
	if (!events_due(st))
		return;
	/* In this turn, also if it was to be tried in the next one. */
	task_cancel(&st->task);
	loop_post(st->loop, &st->task);
}

void
conn_stream_again(struct conn *c, enum dir d)
{
	conn_stream_block(conn_stream_of(c), d == DIR_R ? EV_R : EV_W);
}

void
conn_stream_presume_ready(struct conn *c, enum dir d)
{
	conn_stream_of(c)->ready |= d == DIR_R ? EV_R : EV_W;
}

unsigned int
conn_stream_seen(const struct conn *c)
{
	return conn_stream_of(c)->seen;
}

int
conn_stream_has_news(const struct conn *c)
{
	return conn_stream_of(c)->news != 0;
}
