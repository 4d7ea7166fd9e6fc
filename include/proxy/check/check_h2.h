/* HTTP/2 of the connections of checks: the request of each is a stream, and from then on r->conn is
 * that stream, whose connection is carried here. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_H2_H
#define TACIT_PROXY_CHECK_CHECK_H2_H

#include "base/compiler.h"
#include "proxy/check/check_run.h"

/* True if the connection of the rule speaks HTTP/2 without being asked by a handshake. */
int check_h2_is_forced(const struct check_run *r);
/* Before the request, on an open connection: opens its stream, where HTTP/2 is spoken. 0 or
 * -errno. */
int check_h2_begin(struct check_run *r) must_check;
/* Ends the stream: r->conn is the connection again. Nothing to do without HTTP/2. */
void check_h2_end(struct check_run *r);
/* True if the server has closed the connection of the stream. */
int check_h2_has_eof(const struct check_run *r);
/* Frees what the checks of one checker share. */
void check_h2_fini(struct check_shared *shared);

#endif
