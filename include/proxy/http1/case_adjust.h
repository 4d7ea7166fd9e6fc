/* The case of names in heads for bogus clients and servers (manual, option
 * h1-case-adjust-bogus-client, -server). Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_CASE_ADJUST_H
#define TACIT_PROXY_HTTP1_CASE_ADJUST_H

#include "http/name_case.h"
#include "proxy/model/proxy.h"
#include "proxy/model/session.h"

/* A head of n bytes, perhaps with a body, goes to the client. */
static inline void
case_adjust_to_client(const struct stream *s, char *head, size_t n)
{
	if (unlikely(s->sess->fe->options & OPT_H1_CASE_CLIENT))
		name_case_adjust(s->engine->shared->name_case, head, n);
}

/* The same for the server. */
static inline void
case_adjust_to_server(const struct stream *s, char *head, size_t n)
{
	if (unlikely(s->be->options & OPT_H1_CASE_SERVER))
		name_case_adjust(s->engine->shared->name_case, head, n);
}

#endif
