/*
 * Replies of rules: the arguments of return, deny and tarpit (manual, http-request return), and
 * making the reply.
 */
#ifndef TACIT_RULE_ACTION_ANSWER_H
#define TACIT_RULE_ACTION_ANSWER_H

#include "rule/action/act.h"

#define ANSWER_HDRS_MAX 32
/* Maximum payload: with its head it has to fit into a buffer. */
#define ANSWER_BODY_MAX 15360

/* The words for a body, for the manual. */
#define ANSWER_BODY_VALUES \
	{ "file <file>", 0, "A file with the body." }, \
	{ "lf-file <file>", 0, "A file with a format that makes the body." }, \
	{ "string <text>", 0, "The body." }, \
	{ "lf-string <fmt>", 0, "A format that makes the body." }

struct answer;

/* An answer without fields and body. */
void answer_begin(struct rule_outcome *v, unsigned int status);
/* The status is not one that a reply can have. */
enum rule_result answer_failed(struct rule_outcome *v);
/* Adds a field, in the arena or static. 0, or -1: no room. */
int answer_field(struct rule_outcome *v, struct str name, struct str value) must_check;
/* Adds Content-Length if the status has one. */
int answer_length(struct sample_ctx *cx, struct rule_outcome *v) must_check;

#endif
