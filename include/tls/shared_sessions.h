/*
 * The latest sessions with a server, for all workers: bytes that a worker makes an SSL_SESSION of
 * its own from, since OpenSSL changes one while it is used. One is kept for each name that was
 * asked for, up to a number.
 *
 * There is no lock. A worker that reads one takes it out of its place and puts it back; another one
 * that finds the place empty meanwhile has none. Any worker may call these functions.
 */
#ifndef TACIT_TLS_SHARED_SESSIONS_H
#define TACIT_TLS_SHARED_SESSIONS_H

#include <stdint.h>

#include "base/compiler.h"

/* SSL_SESSION of OpenSSL. */
struct ssl_session_st;
struct shared_sessions;

/* NULL when memory is out. With one reference. */
struct shared_sessions *shared_sessions_new(void) must_check;
struct shared_sessions *shared_sessions_get(struct shared_sessions *sh);
/* The last one frees it. NULL is allowed. */
void shared_sessions_put(struct shared_sessions *sh);
/*
 * Offers a session to the other workers. is_new: it is from a whole handshake, so that what is
 * there may be of no use any more; else it is taken only in place of an old one. name NULL: none
 * was asked for. Without memory nothing happens.
 */
void shared_sessions_publish(struct shared_sessions *sh, const char *name,
	const struct ssl_session_st *session, int is_new, uint64_t now_ms);
/* A session of this name, which belongs to the caller; NULL: there is none. */
struct ssl_session_st *shared_sessions_copy(struct shared_sessions *sh, const char *name)
	must_check;

#endif
