/* The transport of a subrequest's client: it reads nothing, and what is written is the response. */
#ifndef TACIT_PROXY_HTTP1_SUBREQUEST_XPRT_H
#define TACIT_PROXY_HTTP1_SUBREQUEST_XPRT_H

#include "proxy/model/subrequest.h"

/*
 * Opens the connection of the client of s, a new stream, above `below`: the subrequest of `by`,
 * which waits for the response to a request with this method. NULL without memory.
 */
struct subrequest *subrequest_open(struct stream *s, const struct conn *below,
	const struct rule *by, enum http_method method) must_check;
/* engine.hooks.drop_subrequest. */
void subrequest_drop(struct stream *s);

#endif
