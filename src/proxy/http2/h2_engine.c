/* Made on first use, since most workers speak no HTTP/2. */
#include "proxy/http2/h2_engine.h"

#include "base/mem.h"
#include "proxy/http2/h2_client.h"
#include "proxy/http2/h2_server.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"

/* Connections kept for reuse. */
#define CLIENTS_KEPT 64

static void
count_pools(struct engine *e, struct h2_engine *h)
{
	struct pool *pools[ENGINE_H2_POOLS] = { &h->clients, &h->servers, &h->worker.streams,
		&h->worker.shared.in, &h->worker.shared.out };

	for (unsigned int i = 0; i < ENGINE_H2_POOLS; i++)
		memory_count_h2(e, i, pools[i]);
	/* Last: other workers read the pools once they see this. */
	atomic_store_explicit(&e->h2_bytes, &h->worker.shared.bytes, memory_order_release);
}

struct h2_engine *
engine_h2(struct engine *e)
{
	struct h2_engine *h;

	if (likely(e->h2 != NULL))
		return e->h2;
	h = mem_zalloc(sizeof(*h));
	if (!h)
		return NULL;
	if (h2_worker_init(&h->worker, e->bufsize, e->limits.maxhdr + HTTP_FIELDS_ADDED) < 0) {
		mem_free(h);
		return NULL;
	}
	if (e->h2_client_config)
		h->worker.client = *e->h2_client_config;
	if (e->h2_server_config)
		h->worker.server = *e->h2_server_config;
	pool_init(&h->clients, "h2_client", sizeof(struct h2_client), CLIENTS_KEPT);
	pool_init(&h->servers, "h2_server", sizeof(struct h2_server), CLIENTS_KEPT);
	list_init(&h->all_servers);
	count_pools(e, h);
	e->h2 = h;
	return h;
}

void
engine_h2_fini(struct engine *e)
{
	if (!e->h2)
		return;
	e->h2_bytes = NULL;
	pool_fini(&e->h2->clients);
	pool_fini(&e->h2->servers);
	h2_worker_fini(&e->h2->worker);
	mem_free(e->h2);
	e->h2 = NULL;
}
