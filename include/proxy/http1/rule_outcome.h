/* Rules run over the message of a session, and what they ask for in passing. Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_RULE_OUTCOME_H
#define TACIT_PROXY_HTTP1_RULE_OUTCOME_H

#include "proxy/model/http_txn.h"
#include "proxy/model/rules.h"
#include "proxy/sample/eval.h"

/* The head of an answer that rules make: its places are those of a head nobody looks at now. */
struct http_head *rule_outcome_head(struct session *s);
/*
 * Runs a list of px over what the session has, from *at on; look is set up, and v->head is
 * rule_outcome_head() where rules may answer. Log level, timeouts and counters are done; what ends
 * the message is the caller's to carry out. The texts lie in the worker's arena: who calls marks
 * and releases.
 */
enum rule_result rule_outcome_run(struct session *s, const struct proxy *px, unsigned int list,
	struct rules_at *at, struct eval *look, struct rule_outcome *v);
/* Counts a message that a rule refused: a request, or a response. */
void rule_outcome_count_denied(struct session *s, int side);
/* Both characters of the termination code: of a request 'R' or 'T', of a response 'H'. */
void rule_outcome_blame(struct session *s, const struct rule_outcome *v, char phase);
/*
 * The answer that v brings is made (local_reply.h), or the proxy's page where that has formats, or
 * its status is left for it. What
 * is to follow is the caller's.
 */
void rule_outcome_reply(struct session *s, const struct rule_outcome *v);

#endif
