/* Runs rules on the message of a session and applies their side effects. Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_RULE_OUTCOME_H
#define TACIT_PROXY_HTTP1_RULE_OUTCOME_H

#include "proxy/model/http_txn.h"
#include "http/h1_write.h"
#include "proxy/model/rules.h"
#include "proxy/sample/eval.h"

/* The head for replies of rules; it uses the fields of a head that is no longer needed. */
struct http_head *rule_outcome_head(struct stream *s);
/* Notes how much rules may add to a parsed head of len received bytes without computing its length,
 * before they see it. */
static inline void
rule_outcome_note_room(const struct stream *s, struct http_head *h, size_t len)
{
	/* "a:b" becomes "a: b", and Transfer-Encoding may be added. */
	size_t most = len + 2ul * h->n + 32 + H1_EXTRA_MAX;

	h->room = most < s->engine->bufsize ? (uint32_t)(s->engine->bufsize - most) : 0;
}
/*
 * Runs a list of px on the session's data, from *at on; eval is set up. v->head is
 * rule_outcome_head() where rules may reply, else NULL; v->most is the length of the texts of the
 * head that they change, 0: as long as a buffer permits; the rest of *v is cleared. Applies log
 * level, timeouts and counters; the caller handles the end of the message. A rule that begins to
 * wait for an answer ends the deadline of a wait before it: the caller sets its own. The texts lie
 * in the worker's arena: the caller marks and releases it.
 */
enum rule_result rule_outcome_run(struct stream *s, const struct proxy *px, unsigned int list,
	struct rules_at *at, struct eval *eval, struct rule_outcome *v);
/* Counts a request or response that a rule rejected. */
void rule_outcome_count_denied(struct stream *s, int side);
/* Has the close of the client drop it silently, for a response: as in HAProxy this is counted and
 * logged as a drop of a request. Returns STREAM_EV_CLOSE. */
enum stream_event rule_outcome_drop_response(struct stream *s, const struct rule_outcome *v);
/* True if a rule has responded as it should: no error, and nothing denied. */
static inline int
rule_outcome_is_reply(enum rule_end what)
{
	return what == RULE_END_REPLY || what == RULE_END_SERVICE;
}
/* Sets both characters of the termination code: for a request 'R' or 'T', for a response 'H'. */
void rule_outcome_set_term(struct stream *s, const struct rule_outcome *v, char phase);
/*
 * Writes the reply in v (local_reply.h), or the proxy's page if that has formats, or only sets the
 * status. The caller decides what follows.
 */
void rule_outcome_reply(struct stream *s, const struct rule_outcome *v);

#endif
