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

#endif
