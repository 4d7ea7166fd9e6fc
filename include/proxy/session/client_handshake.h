/* The handshake of a client's transport, before the session begins. Private to proxy. */
#ifndef TACIT_PROXY_SESSION_CLIENT_HANDSHAKE_H
#define TACIT_PROXY_SESSION_CLIENT_HANDSHAKE_H

#include "net/conn_err.h"
#include "proxy/model/session.h"

/* The reason for the log. */
void client_handshake_set_term(struct stream *s, enum conn_err err);
/* Its bytes come next on the socket, after a PROXY header: the event that follows. */
enum stream_event client_handshake_begin(struct stream *s);
/* Continues it. */
enum stream_event client_handshake(struct stream *s);

#endif
