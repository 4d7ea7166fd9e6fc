/* The evaluation context of a session in mode tcp without a server. */
#ifndef TACIT_PROXY_SAMPLE_TCP_EVAL_H
#define TACIT_PROXY_SAMPLE_TCP_EVAL_H

#include "proxy/model/session.h"
#include "proxy/sample/eval.h"

/*
 * Sets up eval for the data that the client has sent, also for use_backend conditions. To be
 * followed by tcp_content_eval_done().
 */
void tcp_content_eval_init(struct eval *eval, struct session *s, unsigned int at);
void tcp_content_eval_done(struct eval *eval, struct session *s);
/* The bytes of the client that are received and not forwarded yet; they stay where they are. */
struct str tcp_received(const struct session *s);

#endif
