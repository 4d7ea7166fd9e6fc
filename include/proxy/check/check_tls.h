/* TLS of the connections of checks. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_TLS_H
#define TACIT_PROXY_CHECK_CHECK_TLS_H

#include "base/compiler.h"
#include "proxy/check/check_run.h"

/* The maker of the transport of the next connection; NULL: a plain socket. */
const struct xprt_maker *check_tls_maker(const struct check_run *r);
/* Before the first byte: what the connection asks for. 0 or a negative reason; nothing to do
 * without TLS. */
int check_tls_begin(struct check_run *r) must_check;
/* Begins the handshake, or continues it. */
enum check_step check_tls_proceed(struct check_run *r, struct check_verdict *v);
/* The result of a handshake that has failed: CHECK_STEP_FAIL. */
enum check_step check_tls_fail(struct check_run *r, struct check_verdict *v);
/* After a check: true if the connection stays open, for a moment, until the server has sent a
 * session that the next check can resume. r->deadline ends that. */
int check_tls_await_session(struct check_run *r);

#endif
