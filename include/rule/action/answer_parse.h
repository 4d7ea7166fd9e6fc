/* The arguments of answers that rules make: those of return, deny and tarpit. */
#ifndef TACIT_RULE_ACTION_ANSWER_PARSE_H
#define TACIT_RULE_ACTION_ANSWER_PARSE_H

#include "rule/action/answer.h"

/*
 * From argument arg on. status: the default one. code_word: "deny_status" where that means the same
 * as "status", or NULL. *out NULL: there are no arguments, or only a status: the answer is the
 * proxy's own page for *status_out. Returns the first argument that is not its own, or -1 after an
 * error.
 */
int answer_parse(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, unsigned int status, const char *code_word, struct answer **out,
	unsigned int *status_out) must_check;

#endif
