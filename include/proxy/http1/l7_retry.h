/*
 * Sending a request once more: over another connection, because a kept one had ended, or because
 * retry-on says so. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_L7_RETRY_H
#define TACIT_PROXY_HTTP1_L7_RETRY_H

#include "proxy/model/http_txn.h"

/* The connection to the server was lost before it answered: L7_RETRY when the request is to be sent
 * over another one, else NONE. side: the direction that could not go on, CLIENT. */
enum session_event l7_retry_after_loss(struct session *s, int side) must_check;
/* May anything that goes wrong with this server have the request sent again? */
int l7_retry_can_replay(const struct session *s);
/* L7_RETRY when attempts are left and all of the request is here, else NONE. */
enum session_event l7_retry_schedule(struct session *s) must_check;
/* The same, if retry-on names that. */
enum session_event l7_retry_for(struct session *s, enum http_retry what) must_check;

#endif
