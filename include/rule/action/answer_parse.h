/* The arguments of replies of rules: return, deny and tarpit. */
#ifndef TACIT_RULE_ACTION_ANSWER_PARSE_H
#define TACIT_RULE_ACTION_ANSWER_PARSE_H

#include "rule/action/answer.h"

/*
 * Parses from argument arg on. status: the default. code_word: "deny_status" where it is a synonym
 * of "status", or NULL. *out NULL: there are no arguments, or only a status: the proxy's page for
 * *status_out is used. Returns the first argument that it does not use, or -1 after an error.
 */
int answer_parse(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, unsigned int status, const char *code_word, struct answer **out,
	unsigned int *status_out) must_check;

#endif
