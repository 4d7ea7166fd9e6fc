/*
 * The response's head: read into a buffer, judged, written anew, and on its way with what there is
 * of the body. Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_RESPONSE_H
#define TACIT_PROXY_HTTP1_RESPONSE_H

#include "proxy/model/http_txn.h"

/* A read for it: as pump_once() in direction.c. */
int response_read(struct session *s);
/* Bytes that wait to be judged when what was before them is flushed: 1 when there were some. */
int response_resume(struct session *s, int side);
/* That side was late before it was complete: the status to answer with, or 0: the request is sent
 * again. */
unsigned int response_late(struct session *s, int side);

#endif
