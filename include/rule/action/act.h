/* What the files of actions share: how they read their arguments, and how a run fails. */
#ifndef TACIT_RULE_ACTION_ACT_H
#define TACIT_RULE_ACTION_ACT_H

#include "cfg/ctx.h"
#include "rule/action/action.h"

/* Does argument arg say `word`? */
int act_is(const struct cfg_ctx *ctx, int arg, const char *word);
/*
 * What stands between the brackets of "set-var(...)", the word before `arg`; owned by the caller.
 * 0, or -1 after an error.
 */
int act_paren(const struct rule *r, struct cfg_ctx *ctx, int arg, char **out) must_check;
/* A format, a copy of the text, as argument `arg`. 0, or -1 after an error. */
int act_fmt(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, struct rule_fmt **out) must_check;
int act_text(struct cfg_ctx *ctx, int arg, struct str *out) must_check;
/* The name of a field: a token (RFC 9110, 5.1). */
int act_field_name(const struct rule *r, struct cfg_ctx *ctx, int arg, struct str *out) must_check;
int act_is_token(struct str s);
/* Could it stand in a field's value: no control byte but HTAB (RFC 9110, 5.5)? */
int act_is_value(struct str s);

/* Of the keyword `redirect`: act_redirect.c. */
extern const struct rule_action rule_redirect_keyword;

/* What a format gives, in the arena or static. 0, or -1: it does not fit. */
int act_write(const struct rule_fmt *f, struct sample_ctx *cx, struct str *out) must_check;
#endif
