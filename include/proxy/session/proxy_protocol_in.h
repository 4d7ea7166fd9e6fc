/*
 * What a connection has to begin with where `accept-proxy` or `expect-proxy` say so: a header of
 * the PROXY protocol, which announces the addresses that the session is to have. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_PROXY_PROTOCOL_IN_H
#define TACIT_PROXY_SESSION_PROXY_PROTOCOL_IN_H

#include "net/proxy_header.h"
#include "proxy/model/session.h"

/* Reads what the client of a session in PROXY_HEADER has sent: the event that follows. */
enum session_event proxy_protocol_read(struct session *s) must_check;

/* Why no header came: for the log. */
void proxy_protocol_blame(struct session *s, enum proxy_header_err err);

#endif
