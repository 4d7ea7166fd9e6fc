/*
 * What a connection has to begin with where `accept-proxy` or `expect-proxy` say so: a header of
 * the PROXY protocol, which announces the addresses that the session is to have. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_PROXY_PROTOCOL_IN_H
#define TACIT_PROXY_SESSION_PROXY_PROTOCOL_IN_H

#include "proxy/model/session.h"

/* Reads what the client of a session in HEADER has sent, and raises what it has come to. */
void proxy_protocol_read(struct session *s);
void proxy_protocol_io(struct session *s, uint32_t ev);

#endif
