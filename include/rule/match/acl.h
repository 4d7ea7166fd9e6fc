/*
 * ACLs (manual 7.1), "acl NAME FETCH [flags] [patterns]": tests of samples, combined by OR. Named
 * ACLs belong to the section's struct rule_acls, anonymous ones to their condition.
 */
#ifndef TACIT_RULE_MATCH_ACL_H
#define TACIT_RULE_MATCH_ACL_H

#include "base/list.h"
#include "base/name_index.h"
#include "rule/match/cond.h"
#include "rule/match/pattern.h"

/* The named ACLs of a section: several lines of one name are combined by OR. */
struct rule_acls {
	struct list all;         /* struct rule_acl */
	struct name_index by_name;
	struct list criteria;    /* struct acl_criterion, of all its lines */
	struct name_index by_criterion;
};

/* The sample of a test. The lines of a section share those that have no converters: a map notes
 * each line that uses it. */
struct acl_criterion {
	struct list link;        /* in rule_acls.criteria; unlinked: of one test */
	char *text;              /* as written */
	struct rule_expr *expr;
	enum pattern_method method; /* without -m */
	uint8_t is_method;       /* it is the fetch `method` */
};

/* An expression, a matching method, and patterns. Lines of an ACL that differ only in their
 * patterns make one test. */
struct acl_test {
	struct list link;
	const struct rule_expr *expr; /* the criterion's */
	struct acl_criterion *criterion;
	struct cfg_where where;  /* of the criterion in its first line */
	enum pattern_method method;
	uint8_t is_method;       /* method without -m: pattern_match_http_method() */
	const struct pattern_set *own;   /* patterns of the line; NULL: none yet */
	const struct pattern_set **file; /* and of files; all owned by the configuration */
	unsigned int n_files;
};

struct rule_acl {
	struct list link;        /* in rule_acls.all */
	char *name;              /* NULL: anonymous */
	struct list tests;       /* struct acl_test */
	unsigned int n_tests;
	struct name_index criteria; /* index of them, if there are many; named ACLs only */
};

/* The words of a test: arguments of the line, or, for predefined ACLs, a table. */
struct acl_words {
	struct cfg_ctx *ctx;
	int first, n;            /* arguments of ctx */
	const char *const *fixed; /* used instead; errors are reported at argument `first` */
};

void rule_acls_init(struct rule_acls *a);
void rule_acls_fini(struct rule_acls *a);
/* Parses the line "acl ..." of ctx (argument 0 is the name). 0, or -1 after cfg_error(). */
int rule_acl_parse(struct rule_acls *a, const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;

struct rule_acl *rule_acl_new(const char *name) must_check;
/* The ACL must be in no list. */
void rule_acl_free(struct rule_acl **a);
/* "criterion [flags] [operator] [values]". acls: those of the section, for a named ACL; otherwise
 * NULL. 0, or -1 after cfg_error(). */
int rule_acl_add(struct rule_acls *acls, struct rule_acl *a, const struct rule_vocab *v,
	const struct acl_words *words) must_check;
struct rule_acl *rule_acl_find(const struct rule_acls *acls, const char *name);
/* The words of a predefined ACL (7.4), NULL-terminated; NULL: none. */
const char *const *rule_acl_predefined(const char *name);
/* The name of the i-th one, sorted; NULL at the end. */
const char *rule_acl_predefined_name(size_t i);
/* The nearest name in the section or predefined; NULL: none. */
const char *rule_acl_suggest(const struct rule_acls *acls, const char *name);

#endif
