/* Fetches of the proxy layer (manual 7.3.2, 7.3.3): about sessions and load. */
#ifndef TACIT_PROXY_SAMPLE_FETCH_H
#define TACIT_PROXY_SAMPLE_FETCH_H

#include "net/addr.h"
#include "rule/sample/expr.h"

extern const struct rule_fetch session_fetches[];
extern const struct rule_fetch load_fetches[];
extern const struct rule_conv load_convs[];
extern const struct rule_conv debug_convs[];
extern const struct rule_conv token_convs[]; /* signatures of tokens */
extern const struct rule_fetch conn_fetches[]; /* data from the kernel */
extern const struct rule_fetch h2_fetches[];
extern const struct rule_fetch tls_fetches[];
extern const struct rule_fetch tls_hello_fetches[]; /* a client's hello, secrets */
extern const struct rule_fetch userlist_fetches[]; /* users (7.3.6) */

#endif
