/* Pipes of one worker, for splice(). A pipe in the pool is empty; one with bytes is closed. */
#include "net/pipe.h"

#include "base/counter.h"

#include <fcntl.h>

void
pipe_pool_init(struct pipe_pool *pp, struct sys *sys, unsigned int max, unsigned int size)
{
	*pp = (struct pipe_pool){ .sys = sys, .max = max, .size = size };
	pool_init(&pp->objects, "pipe", sizeof(struct pipe), PIPES_KEPT);
	list_init(&pp->idle);
}

static void
close_ends(struct pipe_pool *pp, int rd, int wr)
{
	if (wr == rd + 1 && sys_close_range(pp->sys, (unsigned int)rd, (unsigned int)wr) >= 0)
		return;
	(void)sys_close(pp->sys, rd);
	(void)sys_close(pp->sys, wr);
}

static void
pipe_destroy(struct pipe_pool *pp, struct pipe *p)
{
	close_ends(pp, p->rd, p->wr);
	pool_put(&pp->objects, p);
}

static struct pipe *
first_idle(struct pipe_pool *pp)
{
	struct pipe *p = list_first(&pp->idle, struct pipe, link);

	list_remove(&p->link);
	counter_sub(&pp->n_idle, 1);
	pp->spare = MIN(pp->spare, pp->n_idle);
	return p;
}

void
pipe_pool_fini(struct pipe_pool *pp)
{
	assert(pp->used == 0 && pp->bytes == 0);
	while (pp->n_idle)
		pipe_destroy(pp, first_idle(pp));
	pool_fini(&pp->objects);
}

/* Sets the size of a pipe, and reads the resulting one; fcntl() rejects more than the user may
 * have, which is harmless. */
static long
size_it(struct pipe_pool *pp, int fd)
{
	long want = pp->size, r = -1;

	if (!want && pp->used < PIPES_BIG)
		want = PIPE_SIZE_BIG;
	if (want)
		r = sys_fcntl(pp->sys, fd, F_SETPIPE_SZ, want);
	return r >= 0 ? r : sys_fcntl(pp->sys, fd, F_GETPIPE_SZ, 0);
}

static struct pipe *
pipe_make(struct pipe_pool *pp)
{
	int fd[2] = { -1, -1 };
	struct pipe *p;

	if (sys_pipe2(pp->sys, fd, O_NONBLOCK | O_CLOEXEC) < 0)
		return NULL;
	p = size_it(pp, fd[1]) >= PIPE_SIZE_MIN ? pool_get(&pp->objects) : NULL;
	if (!p) {
		close_ends(pp, fd[0], fd[1]);
		return NULL;
	}
	list_init(&p->link);
	p->rd = fd[0];
	p->wr = fd[1];
	p->bytes = 0;
	pp->made++;
	return p;
}

struct pipe *
pipe_get(struct pipe_pool *pp, uint64_t now_ms)
{
	struct pipe *p = NULL;

	if (pp->n_idle) {
		p = first_idle(pp);
	} else if (pp->used < pp->max && now_ms >= pp->retry_ms) {
		p = pipe_make(pp);
		if (!p)
			pp->retry_ms = now_ms + PIPE_RETRY_MS;
	}
	if (!p) {
		pp->refused++;
		return NULL;
	}
	counter_add(&pp->used, 1);
	return p;
}

void
pipe_put(struct pipe_pool *pp, struct pipe *p)
{
	assert(p->bytes == 0 && pp->used > 0);
	if (pp->n_idle >= PIPES_KEPT) {
		pipe_drop(pp, p);
		return;
	}
	counter_sub(&pp->used, 1);
	counter_add(&pp->n_idle, 1);
	/* Reuses it first, since its pages are in the cache. */
	list_append(pp->idle.next, &p->link);
}

void
pipe_drop(struct pipe_pool *pp, struct pipe *p)
{
	assert(pp->used > 0);
	counter_sub(&pp->used, 1);
	pipe_destroy(pp, p);
}

unsigned int
pipe_pool_trim(struct pipe_pool *pp)
{
	for (unsigned int n = pp->spare; n; n--) {
		struct pipe *p = list_entry(pp->idle.prev, struct pipe, link);

		list_remove(&p->link);
		counter_sub(&pp->n_idle, 1);
		pipe_destroy(pp, p);
	}
	pp->spare = pp->n_idle;
	return pp->n_idle;
}
