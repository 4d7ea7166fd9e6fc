/*
 * Tries of a session before the kernel reports that they would succeed. Each saves a registration
 * or a wait where it is right and costs one call where it is wrong, so each is learned for each
 * server and worker (server_guess(), proxy/model/shard.h):
 *
 *   NEAR      connect() completes at once: the client's first bytes, or those of the server's
 *             handshake, are sent in the same turn. The send proves the connection.
 *   QUICK     mode http: the response is there in the next turn, and is read without an event. A
 *             server's descriptor that carries one request is never registered.
 *   BRIEF     mode tcp: the same of a response and its FIN, both read by one call
 *             (conn_expect_end()). While they are expected the client is not watched.
 *   FOLLOWED  mode tcp: after that FIN the client's is there in the next turn, and the client's
 *             descriptor is never registered either.
 *
 * Called on the session's worker.
 */
#ifndef TACIT_PROXY_RELAY_SPECULATION_H
#define TACIT_PROXY_RELAY_SPECULATION_H

#include "proxy/model/session.h"

/* After connect(): only a connection to a near server is tried for writing before an event. */
void speculation_connecting(struct stream *s);
/* Sends the client's bytes to a server that may not be connected yet: 1, they have left and it is;
 * 0, not yet, or there are none; -1, the connection has failed. */
int speculation_send(struct stream *s);
/* Learns from a handshake tried as early whether the server is near. */
void speculation_tried_handshake(struct stream *s, int sent);
/* Has the server's answer to a request that was just sent read in the next turn, if it is expected
 * by then. */
void speculation_expect_answer(struct stream *s);
/* True if the speculative read that is expected of the server will be in the next turn; in mode tcp
 * only. */
int speculation_reads_server(const struct stream *s);
/* Learns from a read of the response in mode http: came, its bytes were there. */
void speculation_answered(struct stream *s, int came);
/* Learns from a speculative read of a side (direction.reads_early) in mode tcp, and may have the
 * client read in the next turn. */
void speculation_was_read(struct stream *s, int side);
/* Forgets a read that is expected: the connection to the server was given up. */
static inline void
speculation_cancel(struct stream *s)
{
	s->dir[SERVER].reads_early = 0;
}

#endif
