/* Arguments and environment of an external check's command, which describe the server (manual 4.2,
 * external-check command). */
#ifndef TACIT_PROXY_CHECK_EXTERNAL_ARGS_H
#define TACIT_PROXY_CHECK_EXTERNAL_ARGS_H

#include <stdint.h>

#include "base/sbuf.h"
#include "proxy/model/server.h"

/* Appends the request to run the command of the server's backend. On the first worker. out->failed:
 * it does not fit. */
void external_args_write(const struct server *s, uint32_t id, struct sbuf *out);

#endif
