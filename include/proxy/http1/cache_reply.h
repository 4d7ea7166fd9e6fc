/*
 * Stored responses (model/caching.h): the head, on which rules http-response run, and the body,
 * which is sent from the memory of the cache. http_reply.c sends them. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_CACHE_REPLY_H
#define TACIT_PROXY_HTTP1_CACHE_REPLY_H

#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"

/* Writes the head of the response that was found, or what a rule or a failure replaces it with.
 * Returns the event that follows. */
enum stream_event cache_reply_make(struct stream *s) must_check;

/* True if parts of a body follow what is in the buffer. */
static inline int
cache_reply_follows(const struct stream *s)
{
	return unlikely(s->extras != NULL) && s->extras->hit.left;
}

/* A rule responds in its place. */
static inline void
cache_reply_drop(struct stream *s)
{
	if (unlikely(s->extras != NULL)) {
		stream_end_hit(s);
		s->extras->hit.cache = NULL;
	}
}

/* Sends some of the body, or puts it into the buffer, which ends the direction's message if it is
 * the last part. 0: no more can be sent now. */
int cache_reply_fill(struct stream *s);

#endif
