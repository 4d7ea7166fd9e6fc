/*
 * Sessions that clients resume by an id instead of a ticket, of all bind lines and workers: one
 * table in parts, each with a lock. From a full part goes the session that was used longest ago.
 *
 * Made by the main thread; then used by handshakes of all workers.
 */
#ifndef TACIT_TLS_SESSIONS_H
#define TACIT_TLS_SESSIONS_H

#include <stdint.h>

#include "base/compiler.h"

/* SSL_SESSION of OpenSSL. */
struct ssl_session_st;

struct shared_sessions;

struct ssl_ctx_st;
struct sys;
struct tls_sessions;

/* Room for n sessions. NULL when memory is out. */
struct tls_sessions *tls_sessions_new(unsigned int n) must_check;
/* No context may use it any more. Cleanses the sessions. NULL is allowed. */
void tls_sessions_free(struct tls_sessions *t);
/* Sessions of this context are kept in its acceptor's table (bind.conf->sessions). */
void tls_sessions_use(struct ssl_ctx_st *ctx);
/* Numbers of look-ups, and of those that found none. Any thread. */
void tls_sessions_count(const struct tls_sessions *t, uint64_t *lookups, uint64_t *misses);

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
