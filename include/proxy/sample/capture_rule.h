/* Fetches, converters and actions for captures: proxy/sample/capture.h. */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_RULE_H
#define TACIT_PROXY_SAMPLE_CAPTURE_RULE_H

#include "proxy/sample/capture.h"
#include "rule/action/action.h"
#include "rule/sample/expr.h"

/* Requires a struct stream in sample_ctx.session. */
extern const struct rule_action capture_actions[];

extern const struct rule_fetch capture_fetches[];
extern const struct rule_conv capture_convs[];

struct cfg_ctx;

/*
 * Adds a slot to the current frontend, with the length in argument arg; its number is stored in
 * *out. name: see capture_add(). 0, or -1 after an error.
 */
int capture_slot_add(struct cfg_ctx *ctx, int arg, enum capture_kind kind, const char *name,
	unsigned int *out) must_check;

#endif
