/* Byte counters of a session's proxies and server, and of the process. */
#ifndef TACIT_PROXY_MODEL_BYTE_COUNT_H
#define TACIT_PROXY_MODEL_BYTE_COUNT_H

#include "proxy/model/session.h"

/*
 * Bytes received of a side's message: in mode http those of the current request or response,
 * without bytes after it; 0 while there is no request.
 */
uint64_t stream_message_bytes(const struct stream *s, int side);
/* Counts the bytes transferred since the last call. */
void stream_count_bytes(struct stream *s);
/* Counts bytes sent to clients, servers or the admin socket. */
void engine_count_sent(struct engine *e, uint64_t n);

#endif
