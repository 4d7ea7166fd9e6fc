/*
 * One ACL: tests of samples, of which any that holds does (manual 7.1). Named ones belong to the
 * section's struct rule_acls, nameless ones to the condition they stand in.
 */
#ifndef TACIT_RULE_MATCH_ACL_H
#define TACIT_RULE_MATCH_ACL_H

#include "rule/match/cond.h"
#include "rule/match/pattern.h"

/* An expression, a method, and what it is compared with. */
struct acl_test {
	struct list link;
	struct rule_expr *expr;
	char *criterion;         /* as written: lines that differ in their patterns only are one */
	enum pattern_method method;
	const struct pattern_set *own;   /* patterns of the line itself; NULL: not yet */
	const struct pattern_set **file; /* and of files; all are the configuration's */
	unsigned int n_files;
};

struct rule_acl {
	struct list link;        /* in rule_acls.all */
	char *name;              /* NULL: nameless */
	struct list tests;       /* struct acl_test */
	struct name_index criteria; /* of them; of named ACLs only */
};

/* Where the words of a test come from: the line, or, for predefined ones, a table. */
struct acl_words {
	struct cfg_ctx *ctx;
	int first, n;            /* arguments of ctx */
	const char *const *fixed; /* instead; errors are reported at argument `first` */
};

/* Of one that is in no list. */
void acl_test_free(struct acl_test *t);
struct rule_acl *rule_acl_new(const char *name) must_check;
void rule_acl_free(struct rule_acl **a);
/* "criterion [flags] [operator] [values]". 0, or -1 after cfg_error(). */
int rule_acl_add(struct rule_acl *a, const struct rule_vocab *v,
	const struct acl_words *words) must_check;
struct rule_acl *rule_acl_find(const struct rule_acls *acls, const char *name);
/* The words of one that the manual predefines (7.4), NULL behind the last; NULL: there is none. */
const char *const *rule_acl_predefined(const char *name);
/* The name of the i-th of them, sorted; NULL behind the last. */
const char *rule_acl_predefined_name(size_t i);
/* The nearest name, of the section or predefined; NULL: none is near. */
const char *rule_acl_suggest(const struct rule_acls *acls, const char *name);
/* Is there a test whose needs are met where SAMPLE_AT_x `at` hold? */
int rule_acl_can_hold(const struct rule_acl *a, unsigned int at);
/* SAMPLE_AT_x that one or the other of its tests needs. */
unsigned int rule_acl_needs(const struct rule_acl *a);
/* And those besides that one looks at where they hold. */
unsigned int rule_acl_uses(const struct rule_acl *a);
int rule_acl_check(const struct rule_acl *a, void *root, struct rule_err *why) must_check;
enum rule_truth rule_acl_eval(const struct rule_acl *a, struct sample_ctx *cx);

#endif
