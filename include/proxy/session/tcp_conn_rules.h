/*
 * tcp-request connection and tcp-request session (manual 4.2): clients are refused before anything
 * is opened for them. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_TCP_CONN_RULES_H
#define TACIT_PROXY_SESSION_TCP_CONN_RULES_H

#include "proxy/model/session.h"

/* May it refuse any? */
int tcp_conn_rules_exist(const struct proxy *fe);
/*
 * May the client of a new session stay? Its conn has the descriptor, which is not in the loop yet.
 * 1, or 0: that is counted, and what remains to be done is to close it. Neither is logged.
 * *expects becomes 1 where a rule has it bring a PROXY header.
 */
int tcp_conn_rules_allow_connection(struct session *s, int *expects);
int tcp_conn_rules_allow_session(struct session *s);

#endif
