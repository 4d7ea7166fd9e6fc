/*
 * When a variable is set: the conditions that set-var takes behind the name, as a rule and as a
 * converter (manual 7.3.1, "set-var"). All that are named have to hold.
 */
#ifndef TACIT_RULE_SAMPLE_VAR_COND_H
#define TACIT_RULE_SAMPLE_VAR_COND_H

#include "rule/sample/var.h"

/* For the error of who reads them. */
#define VAR_COND_WORDS "ifexists, ifnotexists, ifempty, ifnotempty, ifset, ifnotset, ifgt and iflt"

/* The bit of a word of these, for a set of them; 0 when it is none. */
unsigned int var_cond_parse(struct str word);
/* Do all of the set `when` hold for storing s as `name`? */
int var_cond_hold(unsigned int when, const struct sample_ctx *cx, struct var_name name,
	const struct sample *s);

#endif
