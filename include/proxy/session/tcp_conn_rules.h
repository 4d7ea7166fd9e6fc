/*
 * tcp-request connection and tcp-request session (manual 4.2): reject clients before anything is
 * allocated for them. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_TCP_CONN_RULES_H
#define TACIT_PROXY_SESSION_TCP_CONN_RULES_H

#include "proxy/model/session.h"

/* True if the rules may reject a client. */
int tcp_conn_rules_exist(const struct proxy *fe);
/*
 * Runs the rules for the client of a new session. Its conn has the descriptor, which is not in the
 * loop yet. 1, or 0: it is rejected and counted, and the caller has to close it. Neither is logged.
 * Sets *expects to 1 if a rule requires a PROXY header.
 */
int tcp_conn_rules_allow_connection(struct session *s, int *expects);
int tcp_conn_rules_allow_session(struct session *s);

#endif
