/* Shared by the files of actions: parsing arguments, and handling failures. */
#ifndef TACIT_RULE_ACTION_ACT_H
#define TACIT_RULE_ACTION_ACT_H

#include "cfg/ctx.h"
#include "http/head.h"
#include "rule/action/action.h"

/* Checks that arguments arg..arg+n-1 exist: 0, or -1 after an error that
 * shows the action's syntax. */
int act_need(const struct rule *r, struct cfg_ctx *ctx, int arg, int n) must_check;
/* Parses argument `arg` as an expression and replaces *out: 0, or -1 after an error. */
int act_expr(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, struct rule_expr **out) must_check;
/* True if argument arg is `word`. */
int act_is(const struct cfg_ctx *ctx, int arg, const char *word);
/*
 * The text in the parentheses of "set-var(...)", the word before `arg`; owned by the caller. 0, or
 * -1 after an error.
 */
int act_paren(const struct rule *r, struct cfg_ctx *ctx, int arg, char **out) must_check;
/* Parses a format as argument `arg` from a copy of the text. 0, or -1 after an error. */
int act_fmt(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, struct rule_fmt **out) must_check;
int act_text(struct cfg_ctx *ctx, int arg, struct str *out) must_check;
/* True for a valid field name: a token (RFC 9110, 5.1). */
int act_field_name(const struct rule *r, struct cfg_ctx *ctx, int arg, struct str *out) must_check;
int act_is_token(struct str s);
/* True for a valid field value: no control byte except HTAB (RFC 9110, 5.5). */
int act_is_value(struct str s);

/* The action of the keyword `redirect`: act_redirect.c. */
extern const struct rule_action rule_redirect_keyword;

/* The outcome that asks for a user and a password of this realm (RFC 7617), as a proxy where the
 * request is for one; an error if the texts do not fit into the arena. */
void act_challenge(const char *realm, const struct sample_ctx *cx, struct rule_outcome *out);

/* The text of a format, in the arena or static. 0, or -1: it does not fit. */
int act_write(const struct rule_fmt *f, struct sample_ctx *cx, struct str *out) must_check;
/* Takes `more` bytes of the room of the head that is known: 1, or 0: it is not enough. */
static inline int
act_take_room(struct http_head *h, size_t more)
{
	if (more > h->room)
		return 0;
	h->room -= (uint32_t)more;
	return 1;
}
/* True if the head may have that many bytes of texts more, and `less` bytes of which they replace
 * fewer: reads all of it, and notes its room. */
int act_find_room(const struct rule_outcome *out, struct http_head *h, size_t more, size_t less);
/* The same; what is known is enough while there is much room. */
static inline int
act_fits(const struct rule_outcome *out, struct http_head *h, size_t more, size_t less)
{
	return act_take_room(h, more > less ? more - less : 0) || act_find_room(out, h, more, less);
}

/* A rewrite failed: ends the message in strict mode, otherwise continues with the next rule. */
enum rule_result act_failed(const struct rule *r, struct rule_outcome *out);

#endif
