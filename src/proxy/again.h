/*
 * Sending a request once more: over another connection, because a kept one had ended, or because
 * retry-on says so. Private to proxy.
 */
#ifndef TACIT_PROXY_AGAIN_H
#define TACIT_PROXY_AGAIN_H

#include "proxy/http_txn.h"

/* The server took nothing of the request, or no more, before it answered: 1 when it is to be sent
 * again over another connection. side: the half that could not go on. */
int again_is_due(struct session *s, int side);
/* May anything that goes wrong with this server have it sent again? */
int again_is_possible(const struct session *s);
/* Attempts are left, and all of the request is here: 1 when it is to be sent again. */
int again_retry(struct session *s);
/* The same, if retry-on names that. */
int again_retries(struct session *s, enum http_retry what);

#endif
