/* Connections of checks. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_CONNECT_H
#define TACIT_PROXY_CHECK_CHECK_CONNECT_H

#include "proxy/check/check_run.h"

check_step_fn check_connect_begin, check_connect_proceed, check_handshake_proceed;

/* Closes the connection, if there is one. */
void check_connect_end(struct check_run *r);
/* Closes the socket kept for the next check. */
void check_connect_drop_spare(struct check_run *r);

#endif
