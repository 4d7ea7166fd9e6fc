/* Fetches of the proxy layer (manual 7.3.2, 7.3.3): of sessions, and of how busy things are. */
#ifndef TACIT_PROXY_SAMPLE_FETCH_H
#define TACIT_PROXY_SAMPLE_FETCH_H

#include "net/addr.h"
#include "rule/sample/vocab.h"

extern const struct rule_fetch session_fetches[];
extern const struct rule_fetch load_fetches[];
extern const struct rule_conv load_convs[];
extern const struct rule_fetch conn_fetches[]; /* what the kernel is asked for */
extern const struct rule_fetch userlist_fetches[]; /* who a client is (7.3.6) */

/* Of the session's client, or with `own` what it connected to. 0, or -1: nobody knows. */
int fetch_client_address(struct sample_ctx *cx, int own, struct addr *out) must_check;
/* The same of its connection, whatever requests say: fc_src, fc_dst. */
int fetch_front_address(struct sample_ctx *cx, int own, struct addr *out) must_check;

#endif
