/*
 * tcp-request connection and tcp-request session (manual 4.2): reject clients before anything is
 * allocated for them. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_TCP_CONN_RULES_H
#define TACIT_PROXY_SESSION_TCP_CONN_RULES_H

#include "proxy/model/session.h"

/* True if there may be a reason at this place to reject the client: rules, or its port. */
static inline int
tcp_conn_rules_exist(const struct stream *s, enum rule_place place)
{
	return proxy_has_rules(&s->sess->fe->rules, place) ||
		(place == RULE_TCP_CONNECTION && s->engine->shared->denies_low_ports);
}

/* tcp_conn_rules_allow(), if there is a reason at this place. */
int tcp_conn_rules_apply(struct stream *s, enum rule_place place, int *expects);

/*
 * Checks the client's port, and runs the rules of RULE_TCP_CONNECTION or RULE_TCP_SESSION for the
 * client of a new session. Its conn has the descriptor, which is not in the loop yet. 1, or 0: it
 * is rejected and counted, and the caller has to close it. Neither is logged. Sets *expects to 1 if
 * a rule requires a PROXY header.
 */
static inline int
tcp_conn_rules_allow(struct stream *s, enum rule_place place, int *expects)
{
	return !tcp_conn_rules_exist(s, place) || tcp_conn_rules_apply(s, place, expects);
}

#endif
