/*
 * An expression: a fetch and converters, "hdr(host),lower,field(1,:)" (manual 7.3).
 */
#ifndef TACIT_RULE_SAMPLE_EXPR_H
#define TACIT_RULE_SAMPLE_EXPR_H

#include "rule/sample/vocab.h"

struct rule_expr;

#define RULE_ERR_MAX 200
#define RULE_CONVS_MAX 64 /* of one expression */

struct rule_err {
	size_t at;               /* offset of the error in the text */
	char text[RULE_ERR_MAX]; /* with a suggestion if there is a similar name */
};

/*
 * Parses text[0..len). at: the SAMPLE_AT_x available where it is evaluated. *used: the end of the
 * expression, which is len, or, with `open`, the first byte that cannot belong to it (a blank, an
 * unmatched bracket). 0 or a negative reason with *why filled in.
 */
int rule_expr_parse(const struct rule_vocab *v, const char *text, size_t len, unsigned int at,
	int open, struct rule_expr **out, size_t *used, struct rule_err *why) must_check;
/*
 * The same for the criterion of an ACL: "hdr_beg(host)" is hdr(host), and *match "beg". *match is
 * NULL where the type decides, as after any converter.
 */
int rule_expr_parse_acl(const struct rule_vocab *v, const char *text, size_t len, unsigned int at,
	struct rule_expr **out, const char **match, struct rule_err *why) must_check;
/* Frees and clears; NULL is allowed. */
void rule_expr_free(struct rule_expr **e);
/* Resolves names of other sections. 0 or -1 with *why filled in. */
int rule_expr_check(struct rule_expr *e, void *root, struct rule_err *why) must_check;
/* After that: checks whether an ACL may compare it with this text. 0 or -1 with *why about the
 * text. */
int rule_expr_check_pattern(const struct rule_expr *e, struct str text,
	struct rule_err *why) must_check;
/* The type of its result; ADDR and ANY depend on the sample. */
enum sample_type rule_expr_type(const struct rule_expr *e);
/* True if there are converters behind its fetch. */
int rule_expr_has_convs(const struct rule_expr *e);
/* SAMPLE_AT_x that it requires. */
unsigned int rule_expr_needs(const struct rule_expr *e);
/* True if it can be evaluated where these SAMPLE_AT_x are available. */
int rule_expr_fits(const struct rule_expr *e, unsigned int at);
/* SAMPLE_AT_x that it can use in addition. */
unsigned int rule_expr_uses(const struct rule_expr *e);
/*
 * 1 found, 0 not: s->may_change shows whether waiting may help. cx->nth selects one of several
 * values.
 */
int rule_expr_eval(const struct rule_expr *e, struct sample_ctx *cx, struct sample *s);
/* The same, cast to that type. */
int rule_expr_eval_as(const struct rule_expr *e, struct sample_ctx *cx, enum sample_type type,
	struct sample *s);

#endif
