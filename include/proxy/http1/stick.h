/*
 * Persistence by stick tables (manual 4.2, `stick`): binds a stream to the server that a table has
 * for it, and stores the server that it has used.
 */
#ifndef TACIT_PROXY_HTTP1_STICK_H
#define TACIT_PROXY_HTTP1_STICK_H

#include "proxy/model/stream_extras.h"
#include "rule/sample/sample.h"

/* Runs `stick match`, unless s is bound already, and notes what `stick store-request` stores. The
 * request can still be read. */
void stick_choose(struct stream *s, struct sample_ctx *cx);
/* Stores the server for what was noted, and for the response. */
void stick_store(struct stream *s, struct sample_ctx *cx);

/* True if stick_store() has something to do. */
static inline int
stick_stores(const struct stream *s)
{
	return (s->be->persist.stick_what & STICK_STORE_RESPONSE) ||
		(unlikely(s->extras != NULL) && s->extras->notes);
}

#endif
