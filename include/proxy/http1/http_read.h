/* READ: a request's head comes in. Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_HTTP_READ_H
#define TACIT_PROXY_HTTP1_HTTP_READ_H

#include "proxy/model/http_txn.h"

/* Reads what has come, and what was read ahead, of a session in READ: the event that follows. */
enum session_event http_read(struct session *s) must_check;
/* The same for events of the client. */
enum session_event http_read_io(struct session *s, int side, uint32_t ev) must_check;
/* How many more bytes of the client are worth a look; 1: each. */
unsigned int http_read_low_water(const struct session *s);
/* When the head, or the wait for it, is late (manual, timeout http-request, http-keep-alive);
 * TIMER_NEVER. */
uint64_t http_read_deadline(const struct session *s);

#endif
