/* Connections of checks. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_CONNECT_H
#define TACIT_PROXY_CHECK_CHECK_CONNECT_H

#include "base/compiler.h"
#include "proxy/check/check_run.h"

/* --- TLS of the connections of checks --- */

/* Begins the handshake, or continues it. */
enum check_step check_tls_proceed(struct check_run *r, struct check_verdict *v);
/* After a check: true if the connection stays open, for a moment, until the server has sent a
 * session that the next check can resume. r->deadline ends that. */
int check_tls_await_session(struct check_run *r);

check_step_fn check_connect_begin, check_connect_proceed, check_handshake_proceed;

/* Closes the socket kept for the next check. */
void check_connect_drop_spare(struct check_run *r);

#endif
