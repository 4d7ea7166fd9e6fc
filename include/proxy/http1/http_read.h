/* State READ: reading a request's head. Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_HTTP_READ_H
#define TACIT_PROXY_HTTP1_HTTP_READ_H

#include "proxy/model/http_txn.h"

/* Processes new data and lookahead of a session in READ: returns the event that follows. */
enum stream_event http_read(struct stream *s) must_check;
/* The same for I/O events of the client. */
enum stream_event http_read_io(struct stream *s, int side, uint32_t ev) must_check;
/* Gives a new stream a request whose head has arrived as data: a copy, which http_read()
 * continues with. 0, -ERR_NOMEM, or -ERR_RANGE: it is larger than a buffer. */
int http_read_given(struct stream *s, const struct http_head *req) must_check;
/* Minimum number of further bytes from the client that should wake the worker; 1: any. */
unsigned int http_read_low_water(const struct stream *s);
/* Deadline of the head, or of the wait for it (manual, timeout http-request, http-keep-alive);
 * TIMER_NEVER: none. */
uint64_t http_read_deadline(const struct stream *s);

/* When a stop closes the connection of this session, on the loop's clock; TIMER_NEVER: not. */
uint64_t http_stop_time(const struct stream *s);
/* True if the current request of a connection is its last one, since the process or its frontend
 * stops. */
int http_read_is_last(const struct stream *s);

/* A complete request waits for a name server (do-resolve) or a subrequest: what follows it, and the
 * client's FIN, are not read meanwhile. */
int http_read_awaits_answer(const struct stream *s);

#endif
