/*
 * The response's head: read into a buffer, judged, written anew, and on its way with what there is
 * of the body. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_RESPONSE_H
#define TACIT_PROXY_HTTP1_RESPONSE_H

#include "proxy/model/http_txn.h"
#include "proxy/relay/relay_ops.h"

/* The direction of a server whose response's head is awaited. */
extern const struct relay_ops http_response_ops;

/* That side was late before the head was complete: the event of a local reply or of a retry. */
enum session_event response_late(struct session *s, int side) must_check;

#endif
