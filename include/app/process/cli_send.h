/* Sends the output of a socket for administrators, as far as its client takes it. */
#ifndef TACIT_APP_PROCESS_CLI_SEND_H
#define TACIT_APP_PROCESS_CLI_SEND_H

#include "base/sbuf.h"
#include "net/conn.h"

/* *sent: bytes of out that were sent before. IO_OK: all of it, and out is empty; IO_AGAIN; IO_ERR:
 * the connection has failed. */
enum io_result cli_send(struct conn *c, struct sbuf *out, size_t *sent) must_check;

#endif
