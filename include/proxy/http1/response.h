/*
 * The response's head: reading, parsing, rewriting, and forwarding it with the first part of the
 * body. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_RESPONSE_H
#define TACIT_PROXY_HTTP1_RESPONSE_H

#include "proxy/model/http_txn.h"
#include "proxy/relay/relay_ops.h"

/* Operations of a direction that waits for a response's head. */
extern const struct relay_ops http_response_ops;
/* The next bytes of the server are a head: after an informational one, or of another attempt. */
void response_expect_head(struct stream *s);
/* Handles a timeout of that side before the head was complete: returns the event of a local reply
 * or a retry. */
enum stream_event response_late(struct stream *s, int side) must_check;
/* An agent has answered a rule of a response, if one waits: its rules continue. */
enum stream_event response_take_answer(struct stream *s) must_check;

#endif
