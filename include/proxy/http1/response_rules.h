/* The rules for a server's final response, on the session's worker. */
#ifndef TACIT_PROXY_HTTP1_RESPONSE_RULES_H
#define TACIT_PROXY_HTTP1_RESPONSE_RULES_H

#include "proxy/relay/relay_ops.h"

/*
 * Runs them on the head, which is parsed and not yet written, and captures its cookie. more: it may
 * be sent; ANSWER: a local reply takes its place; CLOSE: nothing is sent; NONE: a rule waits for
 * the body, and the same call continues with it. The texts that rules make are in the worker's
 * arena, which the caller releases.
 */
struct io_step response_rules_run(struct stream *s) must_check;

#endif
