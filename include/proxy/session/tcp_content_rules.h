/*
 * Content inspection (manual 4.2: tcp-request content, tcp-response content): rules examine the
 * client's data before a server is chosen, and the server's data before it is forwarded. In mode
 * tcp they may wait for more, at most inspect-delay. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_TCP_CONTENT_RULES_H
#define TACIT_PROXY_SESSION_TCP_CONTENT_RULES_H

#include "proxy/model/session.h"
#include "proxy/relay/relay_ops.h"

/* True if in mode tcp data from a client of this frontend is needed before anything is decided. */
static inline int
tcp_content_rules_of_frontend(const struct proxy *fe)
{
	return proxy_has_rules(&fe->rules, RULE_TCP_REQ_CONTENT) || fe->route_looks;
}

/* The same for the chosen backend; the rules of a listen section have run already. */
static inline int
tcp_content_rules_of_backend(const struct stream *s)
{
	return s->be != s->sess->fe && proxy_has_rules(&s->be->rules, RULE_TCP_REQ_CONTENT);
}

/* --- a session in INSPECT --- */

/* Reads the client's data and runs the rules: returns their result. */
enum stream_event tcp_content_read(struct stream *s) must_check;
/* Runs the rules on the data so far: PASSED, DENIED, or NONE while they wait for more. */
enum stream_event tcp_content_decide(struct stream *s) must_check;
uint64_t tcp_content_deadline(const struct stream *s);

/* --- a server's first bytes, in mode tcp --- */

/* True if the server's first bytes are to be held back, in mode tcp: for rules, or for a key. */
static inline int
tcp_content_rules_of_response(const struct stream *s)
{
	return !s->txn && (proxy_has_rules(&s->be->rules, RULE_TCP_RES_CONTENT) ||
		proxy_has_rules(&s->sess->fe->rules, RULES_TCP_EVENTS) ||
		(s->be->persist.stick_what & STICK_STORE_RESPONSE));
}

/* Holds back the first bytes of a connected server if rules need them. Returns the event for the
 * session: DENIED or NONE. */
enum stream_event tcp_content_begin_response(struct stream *s) must_check;

#endif
