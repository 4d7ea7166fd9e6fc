/* The bytes of a session in the counters of its proxies and its server, and those of a process. */
#ifndef TACIT_PROXY_MODEL_BYTE_COUNT_H
#define TACIT_PROXY_MODEL_BYTE_COUNT_H

#include "proxy/model/session.h"

/*
 * How many bytes of side's message have come: in mode http those of the request (or response) at
 * work, without what is behind it, and 0 as long as there is no request.
 */
uint64_t session_message_bytes(const struct session *s, int side);
/* Counts what has come and gone since it was called last. */
void session_count_bytes(struct session *s);
/* So many bytes went to clients, to servers or into the admin socket. */
void engine_count_sent(struct engine *e, uint64_t n);

#endif
