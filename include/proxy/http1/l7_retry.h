/*
 * Retries of requests: on another connection because an idle one was closed, or because of
 * retry-on. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_L7_RETRY_H
#define TACIT_PROXY_HTTP1_L7_RETRY_H

#include "proxy/model/http_txn.h"

/* Writing the request to the server failed: returns the event that follows if the request can be
 * retried, else NONE. side: the direction that failed, CLIENT. */
enum stream_event l7_retry_after_loss(struct stream *s, int side) must_check;
/* The server has closed without a complete response: L7_RETRY if the request is to be retried, else
 * NONE. */
enum stream_event l7_retry_without_answer(struct stream *s) must_check;
/*
 * True if the client should decide about a retry: both its connection and the server's have
 * carried earlier requests. Clients know that a persistent connection can be closed at any time
 * (RFC 9112, 9.3.1) and which requests can be repeated. The connection is closed without a
 * response, as HAProxy does.
 */
int l7_retry_is_left_to_client(const struct stream *s);
/* True if a failure of this server may cause a retry. */
int l7_retry_can_replay(const struct stream *s);
/* L7_RETRY if retry-on includes this failure, no rule forbids it, attempts are left and the whole
 * request is buffered; else NONE. */
enum stream_event l7_retry_for(struct stream *s, enum http_retry what) must_check;
/* The same for a response with this status. */
enum stream_event l7_retry_for_status(struct stream *s, unsigned int status) must_check;

#endif
