/*
 * PROXY protocol headers of incoming connections, required by `accept-proxy` or `expect-proxy`.
 * They set the session's addresses. Private to proxy.
 */
#ifndef TACIT_PROXY_SESSION_PROXY_PROTOCOL_IN_H
#define TACIT_PROXY_SESSION_PROXY_PROTOCOL_IN_H

#include "net/proxy_header.h"
#include "proxy/model/session.h"

/* Reads data from the client of a session in PROXY_HEADER: returns the event that follows. */
enum session_event proxy_protocol_read(struct session *sess) must_check;

#endif
