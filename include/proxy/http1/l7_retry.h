/*
 * Sending a request once more: over another connection, because a kept one had ended, or because
 * retry-on says so. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_L7_RETRY_H
#define TACIT_PROXY_HTTP1_L7_RETRY_H

#include "proxy/model/http_txn.h"

/* The server takes no more of the request: the event that follows from what it had said before, if
 * the request can be sent again, else NONE. side: the direction that could not go on, CLIENT. */
enum session_event l7_retry_after_loss(struct session *s, int side) must_check;
/* The server has ended without a whole response: L7_RETRY when the request is to be sent again,
 * else NONE. */
enum session_event l7_retry_without_answer(struct session *s) must_check;
/*
 * Is it for the client to send it again? It has used its own connection before, and so has this one
 * to the server. Clients know that such a connection can end at any moment (RFC 9112, 9.3.1), and
 * have a better idea of what may be done twice: it is closed without an answer, as HAProxy does.
 */
int l7_retry_is_left_to_client(const struct session *s);
/* May anything that goes wrong with this server have the request sent again? */
int l7_retry_can_replay(const struct session *s);
/* retry-on names that, no rule objects, attempts are left, and all of the request is here:
 * L7_RETRY, else NONE. */
enum session_event l7_retry_for(struct session *s, enum http_retry what) must_check;
/* The same for a response of that status. */
enum session_event l7_retry_for_status(struct session *s, unsigned int status) must_check;

#endif
