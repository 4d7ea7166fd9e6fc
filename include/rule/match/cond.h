/*
 * ACLs and conditions (manual 7.1, 7.2): "acl NAME FETCH [flags] [patterns]", and "if/unless"
 * with names, !, ||, or, { anonymous }.
 */
#ifndef TACIT_RULE_MATCH_COND_H
#define TACIT_RULE_MATCH_COND_H

#include "base/list.h"
#include "base/name_index.h"
#include "cfg/ctx.h"
#include "rule/sample/expr.h"

struct rule_cond;

/*
 * The named ACLs of a section: several lines of one name are combined by OR.
 */
struct rule_acls {
	struct list all;         /* struct rule_acl, cond.c's own */
	struct name_index by_name;
};

void rule_acls_init(struct rule_acls *a);
void rule_acls_fini(struct rule_acls *a);
/* Parses the line "acl ..." of ctx (argument 0 is the name). 0, or -1 after cfg_error(). */
int rule_acl_parse(struct rule_acls *a, const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;

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
/* Resolves names in its tests when the configuration is complete. */
int rule_cond_check(struct rule_cond *c, void *root, struct rule_err *why) must_check;

enum rule_truth { RULE_NO, RULE_YES, RULE_WAIT };
/*
 * RULE_WAIT is returned only if more data may arrive (!cx->req_ended) and could change the result.
 */
enum rule_truth rule_cond_eval(const struct rule_cond *c, struct sample_ctx *cx);

#endif
