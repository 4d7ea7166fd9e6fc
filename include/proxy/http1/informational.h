/*
 * An interim answer of our own (RFC 9110, 15.2), to a client whose request is still being read.
 * What the client does not take at once is pending in the server's direction, and goes before
 * whatever is said next: by the server (direction_flush), or by ourselves (local_reply.c). Private
 * to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_INFORMATIONAL_H
#define TACIT_PROXY_HTTP1_INFORMATIONAL_H

#include "proxy/model/session.h"

/*
 * Says it, or keeps the rest. 0, or -1: a part is out and there is no memory for the other one, so
 * nothing else may be said. Where none of it could be sent or kept it is not said.
 */
int informational_send(struct session *s, struct str text) must_check;
/* The client takes bytes again. */
void informational_flush(struct session *s);

#endif
