/* Heads of the responses that rules make, written by the session's worker. The written text comes
 * out of the arena or is static. */
#include "rule/action/answer.h"

#include "http/head.h"
#include "http/reply.h"
#include "http/status.h"

int
answer_field(struct rule_outcome *v, struct str name, struct str value)
{
	return http_add(v->head, name, value) < 0 ? -1 : 0;
}

int
answer_length(struct sample_ctx *cx, struct rule_outcome *v)
{
	char *digits;

	if (http_status_has_no_body(v->status))
		return 0;
	digits = arena_get(cx->arena, HTTP_LENGTH_DIGITS);
	return digits && http_set_length(v->head, v->body.len, digits) == 0 ? 0 : -1;
}

void
answer_begin(struct rule_outcome *v, unsigned int status)
{
	v->has_answer = 1;
	v->is_empty = 0;
	v->status = status;
	v->body = (struct str){ NULL, 0 };
	v->head->version = HTTP_1_1;
	v->head->status = status;
	v->head->reason = str_of(http_status_reason(status));
	v->head->framing = HTTP_BODY_NONE;
	v->head->n = 0;
}

enum rule_result
answer_failed(struct rule_outcome *v)
{
	v->what = RULE_END_ERROR;
	v->status = 500;
	v->has_answer = 0;
	v->failed_rewrites++;
	return RULE_FINAL;
}
