/* Rules run over the message of a session, and what they ask for in passing. Private to proxy. */
#ifndef TACIT_PROXY_VERDICT_H
#define TACIT_PROXY_VERDICT_H

#include "proxy/http_txn.h"
#include "proxy/rules.h"

/* The head of an answer that rules make: its places are those of a head nobody looks at now. */
struct http_head *verdict_head(struct session *s);
/*
 * Runs a list of px over what the session has, from *at on; look is set up, and v->head is
 * verdict_head() where rules may answer. Log level, timeouts and counters are done; what ends the
 * message is the caller's to carry out. The texts lie in the worker's arena: who calls marks and
 * releases.
 */
enum rule_result verdict_run(struct session *s, const struct proxy *px, unsigned int list,
	struct rules_at *at, struct look *look, struct rule_verdict *v);
/* Counts a message that a rule refused: a request, or a response. */
void verdict_count_denied(struct session *s, int side);
/* Both characters of the termination code: of a request 'R' or 'T', of a response 'H'. */
void verdict_blame(struct session *s, const struct rule_verdict *v, char phase);
/*
 * The answer that v brings is made (own_answer.h), or the proxy's page where that has formats, or
 * its status is left for it. What
 * is to follow is the caller's.
 */
void verdict_answer(struct session *s, const struct rule_verdict *v);

#endif
