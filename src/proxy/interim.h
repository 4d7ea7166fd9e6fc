/*
 * An interim answer of our own (RFC 9110, 15.2), to a client whose request is still being read.
 * What the client does not take at once is pending in the server's half, and goes before whatever
 * is said next: by the server (half_flush), or by ourselves (own_answer.c). Private to proxy.
 */
#ifndef TACIT_PROXY_INTERIM_H
#define TACIT_PROXY_INTERIM_H

#include "proxy/session.h"

/*
 * Says it, or keeps the rest. 0, or -1: a part is out and there is no memory for the other one, so
 * nothing else may be said. Where none of it could be sent or kept it is not said.
 */
int interim_say(struct session *s, struct str text) must_check;
/* The client takes bytes again. */
void interim_flush(struct session *s);

#endif
