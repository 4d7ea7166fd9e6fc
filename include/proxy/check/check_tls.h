/* TLS of the connections of checks. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_TLS_H
#define TACIT_PROXY_CHECK_CHECK_TLS_H

#include "base/compiler.h"
#include "proxy/check/check_run.h"

/* What makes the transport of the connection that is opened next; NULL: a plain socket. */
const struct xprt_maker *check_tls_maker(const struct check_run *r);
/* Before the first byte: the name that is asked for. 0 or a negative reason; nothing to do without
 * TLS. */
int check_tls_begin(struct check_run *r) must_check;

#endif
