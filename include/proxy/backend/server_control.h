/* Operator changes of a server: weight and administrative state. */
#ifndef TACIT_PROXY_BACKEND_SERVER_CONTROL_H
#define TACIT_PROXY_BACKEND_SERVER_CONTROL_H

#include "proxy/model/server.h"

/* Changes by an operator. Weights 0..256: 0 or -ERR_RANGE; -ERR_UNSUPPORTED when the algorithm is
 * static and the weight is neither 0 nor the configured one. now_ms: the loop's clock. */
int server_set_weight(struct server *s, int weight) must_check;
void server_set_admin(struct server *s, enum server_admin admin, uint64_t now_ms);

#endif
