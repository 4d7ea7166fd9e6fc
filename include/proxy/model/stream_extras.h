/*
 * The rare members of a stream, in a block of their own that is allocated on first use: a stream
 * that needs none of them pays for a pointer.
 */
#ifndef TACIT_PROXY_MODEL_STREAM_EXTRAS_H
#define TACIT_PROXY_MODEL_STREAM_EXTRAS_H

#include "base/compiler.h"
#include "proxy/model/stream.h"

struct dns_ask;
struct engine;
struct proxy;

struct stream_extras {
	struct proxy *upgraded_to; /* set by http_upgrade.c, for its first request; else NULL */
	struct dns_ask *asks;      /* do-resolve: names that its rules ask for; NULL: none */
};

void engine_extras_init(struct engine *e);
/* The extras of s, allocated on first use: NULL without memory. */
struct stream_extras *stream_extras_get(struct stream *s) must_check;
/* Releases what they hold, and their memory. s has some. */
void stream_extras_drop(struct stream *s);

/* Called when an exchange is over. */
static inline void
stream_extras_end(struct stream *s)
{
	if (unlikely(s->extras != NULL))
		stream_extras_drop(s);
}

/* The backend that it was upgraded for, until its first request is over; NULL: none. */
static inline struct proxy *
stream_upgraded_to(const struct stream *s)
{
	return unlikely(s->extras != NULL) ? s->extras->upgraded_to : NULL;
}

#endif
