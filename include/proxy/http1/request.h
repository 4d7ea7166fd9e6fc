/*
 * A request whose head is complete, until it is sent to a server or gets a local reply: waiting for
 * the body, rules, the backend. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_REQUEST_H
#define TACIT_PROXY_HTTP1_REQUEST_H

#include "proxy/model/http_txn.h"
#include "rule/action/action.h"

/* Processes the request as far as possible: REQUEST, the event of a rule that has ended it, or NONE
 * while it waits for more of the body. */
enum stream_event request_process(struct stream *s) must_check;
/* True if the balancing algorithm made the request wait for its body (url_param). If the body does
 * not arrive logs still have the time of the head, as in HAProxy. */
int request_is_taken(const struct stream *s);
/* The request is invalid and gets a local reply with this status: ANSWER. */
enum stream_event request_refuse(struct stream *s, unsigned int status) must_check;

#endif
