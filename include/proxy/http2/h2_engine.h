/* Memory that the HTTP/2 connections of a worker share. */
#ifndef TACIT_PROXY_HTTP2_H2_ENGINE_H
#define TACIT_PROXY_HTTP2_H2_ENGINE_H

#include "h2/h2_carrier.h"
#include "proxy/model/engine.h"

struct h2_engine {
	struct h2_worker worker;
	struct pool clients;       /* struct h2_client */
	struct pool servers;       /* struct h2_server */
	struct list all_servers;   /* struct h2_server.all */
};

/* Made with the first connection: NULL without memory. */
struct h2_engine *engine_h2(struct engine *e);
void engine_h2_fini(struct engine *e);

#endif
