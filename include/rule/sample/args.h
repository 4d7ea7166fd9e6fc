/* Arguments of fetches and converters: "(a,b)" (manual 2.2 and 7.3). */
#ifndef TACIT_RULE_SAMPLE_ARGS_H
#define TACIT_RULE_SAMPLE_ARGS_H

#include "rule/sample/expr.h"

/*
 * Parses text[*at..len), which begins with '(' or has no arguments, with these types and this
 * number of required arguments. what: name for messages. Sets *at after the ')'. 0, or a negative
 * reason with *why; *out has to be freed in either case.
 */
int rule_args_parse(const enum rule_arg_type *types, unsigned int min, const char *what,
	struct str text, size_t *at, struct rule_args *out, struct rule_err *why) must_check;
/* The memory of arguments that are kept: for no more than these types may use. */
size_t rule_args_size(const enum rule_arg_type *types) must_check;
/* Fills in why; returns reason. */
int rule_fail(struct rule_err *why, size_t at, int reason, const char *fmt, ...) fmt_printf(4, 5);
/* The offset of the i-th argument in text, whose list begins at `open`, for messages. */
size_t rule_args_place(struct str text, size_t open, unsigned int i);

#endif
