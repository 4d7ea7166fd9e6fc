/*
 * Sending a request once more: over another connection, because a kept one had ended, or because
 * retry-on says so. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_L7_RETRY_H
#define TACIT_PROXY_HTTP1_L7_RETRY_H

#include "proxy/model/http_txn.h"

/* The server took nothing of the request, or no more, before it answered: 1 when it is to be sent
 * again over another connection. side: the direction that could not go on. */
int l7_retry_after_loss(struct session *s, int side);
/* May anything that goes wrong with this server have it sent again? */
int l7_retry_can_replay(const struct session *s);
/* Attempts are left, and all of the request is here: 1 when it is to be sent again. */
int l7_retry_schedule(struct session *s);
/* The same, if retry-on names that. */
int l7_retry_for(struct session *s, enum http_retry what);

#endif
