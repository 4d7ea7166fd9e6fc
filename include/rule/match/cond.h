/* Conditions (manual 7.2): "if/unless" with names of ACLs, !, ||, or, { anonymous }. */
#ifndef TACIT_RULE_MATCH_COND_H
#define TACIT_RULE_MATCH_COND_H

#include "cfg/ctx.h"
#include "rule/sample/expr.h"

struct rule_acls;
struct rule_cond;

/*
 * Parses "if ..." or "unless ..." from argument `first` to the end of the line. acls: those of the
 * section so far; TRUE, FALSE, HTTP, METH_GET ... are predefined (manual 7.4). at: SAMPLE_AT_x that
 * are available. 0, or -1 after cfg_error().
 */
int rule_cond_parse(const struct rule_acls *acls, const struct rule_vocab *v, struct cfg_ctx *ctx,
	int first, unsigned int at, struct rule_cond **out) must_check;
void rule_cond_free(struct rule_cond **c);
/* SAMPLE_AT_x that any of its tests needs. */
unsigned int rule_cond_needs(const struct rule_cond *c);
/* SAMPLE_AT_x that it can use in addition. */
unsigned int rule_cond_uses(const struct rule_cond *c);
/* Resolves names in its anonymous tests when the configuration, root, is complete. 0 or -1. */
int rule_cond_check(struct rule_cond *c, void *root, struct rule_err *why) must_check;
/* The same for named ACLs, whether a condition uses them or not. 0, or -1 after errors in d. */
int rule_acls_check(const struct rule_acls *acls, void *root, struct cfg_diag *d) must_check;

enum rule_truth { RULE_NO, RULE_YES, RULE_WAIT };
/*
 * RULE_WAIT is returned only if more data may arrive (!cx->req_ended) and could change the result.
 */
enum rule_truth rule_cond_eval(const struct rule_cond *c, struct sample_ctx *cx);

#endif
