/* The memory of captures: only while a transaction is at work. */
#include "base/pool.h"
#include "proxy/sample/capture_int.h"
#include "proxy/model/memory.h"

/* Objects kept for reuse. */
#define CAPTURES_KEPT 256

void
engine_allow_captures(struct engine *e, size_t size)
{
	pool_init(&e->pools.capture, "capture", size, CAPTURES_KEPT);
}

int
captures_have_room(struct stream *s)
{
	return !s->sess->fe->captures.size || memory_reserve(s->engine, &s->engine->pools.capture);
}

void
captures_alloc(struct stream *s)
{
	const struct capture_conf *c = &s->sess->fe->captures;
	struct pool *p = &s->engine->pools.capture;

	if (c->size > p->size || !captures_have_room(s))
		return;
	s->captures = pool_get(p);
	if (!s->captures)
		return;
	memory_watch(s->engine);
	for (unsigned int k = 0; k < CAPTURE_KINDS; k++)
		for (unsigned int i = 0; i < c->n[k]; i++)
			s->captures->len[c->slot[k][i].nth] = CAPTURE_NONE;
}

void
captures_free(struct stream *s)
{
	pool_put(&s->engine->pools.capture, s->captures);
	s->captures = NULL;
	memory_watch(s->engine);
}
