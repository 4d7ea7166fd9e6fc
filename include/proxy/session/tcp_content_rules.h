/*
 * Inspection of contents (manual 4.2: tcp-request content, tcp-response content): rules look at
 * what a client sent before it has a server, and at what a server sent before that is passed on. In
 * mode tcp they may wait for more of it, for as long as inspect-delay says. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_TCP_CONTENT_RULES_H
#define TACIT_PROXY_SESSION_TCP_CONTENT_RULES_H

#include "proxy/sample/eval.h"
#include "proxy/model/session.h"

/* Is a client of it, in mode tcp, to be read before anything is decided for it? */
int tcp_content_rules_of_frontend(const struct proxy *fe);
/* The same of the backend that was chosen: rules of a listen section have run before. */
int tcp_content_rules_of_backend(const struct session *s);

/* --- a session in INSPECT --- */

/* Reads what the client has sent and runs the rules: what they have come to. */
enum session_event tcp_content_read(struct session *s) must_check;
/* What the rules say of what is there: PASSED, DENIED, or NONE when they wait for more. */
enum session_event tcp_content_decide(struct session *s) must_check;
uint64_t tcp_content_deadline(const struct session *s);

/* --- what a server sends, in mode tcp --- */

/* The server is connected: its first bytes are held back if rules want to see them. Returns what
 * the session is to be told, as does tcp_content_end_response(). */
enum session_event tcp_content_begin_response(struct session *s) must_check;
/* Are they held back? */
int tcp_content_holds_response(const struct session *s);
/* No more is waited for: the rules say what is to happen. */
enum session_event tcp_content_end_response(struct session *s) must_check;
uint64_t tcp_content_response_deadline(const struct session *s);

#endif
