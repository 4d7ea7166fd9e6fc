/* The address that a server sees instead of this host's: `source ... usesrc` (manual 4.2). */
#ifndef TACIT_PROXY_SESSION_CONNECT_SOURCE_H
#define TACIT_PROXY_SESSION_CONNECT_SOURCE_H

#include "proxy/model/session.h"

/* Mode http: notes the address in the request's header, before the request is placed. The first of
 * several servers that a request is sent to decides which header. */
void connect_source_note(struct stream *s);
/* The address for the connection to s->srv, without a port if the kernel may choose it: 1. 0: this
 * host's own is used. */
int connect_source_get(const struct stream *s, struct addr *out);
/* True if the idle connection to s->srv has the right one. */
int connect_source_is(const struct stream *s, const struct conn *c);

#endif
