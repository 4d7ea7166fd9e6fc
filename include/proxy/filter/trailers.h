/*
 * `option http-drop-request-trailers` and `http-drop-response-trailers` (HAProxy 3.2, 4.2): a
 * filter of messages in chunks, whose bodies pass as they are.
 */
#ifndef TACIT_PROXY_FILTER_TRAILERS_H
#define TACIT_PROXY_FILTER_TRAILERS_H

struct proxy;

/* Gives p the filters of its options. 0 or -ERR_NOMEM. */
int trailers_finish(struct proxy *p);

#endif
