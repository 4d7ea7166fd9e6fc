/*
 * A request whose head is complete, until it goes to a server or is answered by ourselves: bodies
 * that are waited for, rules, the backend. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_REQUEST_H
#define TACIT_PROXY_HTTP1_REQUEST_H

#include "proxy/model/http_txn.h"

/* Takes it as far as it comes with what is there of the body: REQUEST, the event of a rule that has
 * ended it, or NONE and it waits for more of the body. */
enum session_event request_process(struct session *s) must_check;
/* The same once its client has gone, and the rest of its body does not come. */
enum session_event request_cut(struct session *s) must_check;
/* It waits for what its backend balances by (url_param): when that does not come logs still tell
 * when the head had, as HAProxy's do. */
int request_is_taken(const struct session *s);
/* It is bad and gets a local reply with that status: ANSWER. */
enum session_event request_refuse(struct session *s, unsigned int status) must_check;

#endif
