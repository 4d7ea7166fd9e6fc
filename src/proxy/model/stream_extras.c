/* Rare members of streams, out of the worker's pool. On the stream's worker. */
#include "proxy/model/stream_extras.h"

#include <string.h>

#include "base/pool.h"
#include "proxy/model/dns_ask.h"
#include "proxy/model/memory.h"

/* Objects kept for reuse. */
#define EXTRAS_KEPT 256

void
engine_extras_init(struct engine *e)
{
	pool_init(&e->extras_pool, "extras", sizeof(struct stream_extras), EXTRAS_KEPT);
}

struct stream_extras *
stream_extras_get(struct stream *s)
{
	struct engine *e = s->engine;

	if (s->extras || !memory_reserve(e, &e->extras_pool))
		return s->extras;
	s->extras = pool_get(&e->extras_pool);
	if (s->extras)
		memset(s->extras, 0, e->extras_pool.size);
	memory_watch(e);
	return s->extras;
}

void
stream_extras_drop(struct stream *s)
{
	dns_ask_drop_all(s);
	pool_put(&s->engine->extras_pool, s->extras);
	s->extras = NULL;
	memory_watch(s->engine);
}
