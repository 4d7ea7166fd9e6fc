/*
 * The conditions of set-var after the name, as an action and as a converter (manual 7.3.1,
 * "set-var"). All of them must be true.
 */
#ifndef TACIT_RULE_SAMPLE_VAR_COND_H
#define TACIT_RULE_SAMPLE_VAR_COND_H

#include "rule/sample/var.h"

/* For error messages. */
#define VAR_COND_WORDS "ifexists, ifnotexists, ifempty, ifnotempty, ifset, ifnotset, ifgt and iflt"

/* The bit of a condition's name; 0: unknown. */
unsigned int var_cond_parse(struct str word);
/* True if all conditions in `when` are true for storing s as `name`. */
int var_cond_hold(unsigned int when, const struct sample_ctx *cx, struct var_name name,
	const struct sample *s);

#endif
