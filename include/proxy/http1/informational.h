/*
 * Informational responses made by tacit (RFC 9110, 15.2), while the request is still being read.
 * Bytes that the client does not accept at once are pending in the direction to it and precede the
 * final response of the server (direction_flush) or of tacit (local_reply.c). Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_INFORMATIONAL_H
#define TACIT_PROXY_HTTP1_INFORMATIONAL_H

#include "proxy/model/session.h"

/*
 * Sends the response, or keeps what is left of it. 0, or -1: it was sent in part and there is no
 * memory for the rest, so nothing else may be sent. If none of it could be sent or kept it is
 * dropped.
 */
int informational_send(struct stream *s, struct str text) must_check;
/* The client is writable again. */
void informational_flush(struct stream *s);

#endif
