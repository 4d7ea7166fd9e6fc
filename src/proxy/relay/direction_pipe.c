/* The pipe of a direction, of its worker's pool. A direction owns one only while it holds bytes;
 * empty it goes back, with bytes in it it is closed. */
#include "base/counter.h"
#include "event/profile.h"
#include "proxy/model/memory.h"
#include "proxy/relay/direction.h"

/* Idle time after which surplus pipes are closed. */
#define PIPES_IDLE_MS 500

static void
on_pipe_timer(struct timer *t)
{
	struct engine *e = container_of(t, struct engine, pipe_timer);

	if (!pipe_pool_trim(&e->pipes))
		return;
	/* The heap had room a moment ago. */
	(void)!timer_set(loop_timers(e->loop), t, loop_now_ms(e->loop) + PIPES_IDLE_MS);
}
PROFILE_NAME(on_pipe_timer, pipe_timer)

void
engine_splice_init(struct engine *e)
{
	pipe_pool_init(&e->pipes, e->sys, 0, 0);
	timer_init(&e->pipe_timer, on_pipe_timer);
}

void
engine_splice_fini(struct engine *e)
{
	timer_stop(loop_timers(e->loop), &e->pipe_timer);
	pipe_pool_fini(&e->pipes);
}

void
engine_allow_splice(struct engine *e, unsigned int max_pipes, unsigned int pipe_size)
{
	e->pipes.max = max_pipes;
	e->pipes.size = pipe_size;
}

/* An empty pipe is kept in the pool for the next transfer. */
void
direction_pipe_put(struct engine *e, struct pipe *p)
{
	if (!e->pipe_timer.pos &&
		timer_set(loop_timers(e->loop), &e->pipe_timer,
			loop_now_ms(e->loop) + PIPES_IDLE_MS) < 0)
		pipe_drop(&e->pipes, p);
	else
		pipe_put(&e->pipes, p);
}

void
direction_pipe_drop(struct engine *e, struct direction *d)
{
	if (!d->pipe)
		return;
	counter_sub(&e->pipes.bytes, d->pipe->bytes);
	pipe_drop(&e->pipes, d->pipe);
	d->pipe = NULL;
	memory_watch(e);
}

/* This many bytes were taken out of it. */
void
direction_pipe_took(struct engine *e, struct direction *d, size_t n)
{
	counter_sub(&e->pipes.bytes, n);
	memory_watch(e);
	if (d->pipe->bytes)
		return;
	direction_pipe_put(e, d->pipe);
	d->pipe = NULL;
}
