/* The body of a response that is read and not sent. */
#ifndef TACIT_PROXY_HTTP1_DROPPED_BODY_H
#define TACIT_PROXY_HTTP1_DROPPED_BODY_H

#include "proxy/relay/relay_ops.h"

/* The operations of the direction to the client, once the head is placed: HTTP_RES_BODY_DROPPED. */
extern const struct relay_ops http_dropped_body_ops;

#endif
