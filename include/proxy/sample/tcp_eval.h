/* The evaluation context of a session in mode tcp that has no server yet. */
#ifndef TACIT_PROXY_SAMPLE_TCP_EVAL_H
#define TACIT_PROXY_SAMPLE_TCP_EVAL_H

#include "proxy/model/session.h"
#include "proxy/sample/eval.h"

/*
 * Sets up look for the bytes that the client has sent: conditions of use_backend see them too.
 * Followed by tcp_content_eval_done().
 */
void tcp_content_eval_init(struct eval *look, struct session *s, unsigned int at);
void tcp_content_eval_done(struct eval *look, struct session *s);

#endif
