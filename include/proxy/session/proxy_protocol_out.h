/* PROXY protocol headers of connections to servers (`send-proxy`). Private to proxy. */
#ifndef TACIT_PROXY_SESSION_PROXY_PROTOCOL_OUT_H
#define TACIT_PROXY_SESSION_PROXY_PROTOCOL_OUT_H

#include "proxy/model/session.h"

/* Has the new connection to s->srv begin with a header, as the server wants: 0 or
 * -ERR_NOMEM. */
int proxy_protocol_begin(struct stream *s) must_check;
/* True if the idle connection c began with the header that s would send. */
int proxy_protocol_matches(const struct stream *s, const struct conn *c);

#endif
