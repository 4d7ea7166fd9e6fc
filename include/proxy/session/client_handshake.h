/* The handshake of a client's transport, before the session begins. Private to proxy. */
#ifndef TACIT_PROXY_SESSION_CLIENT_HANDSHAKE_H
#define TACIT_PROXY_SESSION_CLIENT_HANDSHAKE_H

#include "net/conn_err.h"
#include "proxy/model/session.h"

/* Continues it. */
enum session_event client_handshake(struct session *sess);

#endif
