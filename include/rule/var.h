/*
 * Variables of rules: set-var(txn.name) (manual 2.8). A set has an owner (a session, a
 * transaction) and ends with it.
 */
#ifndef TACIT_RULE_VAR_H
#define TACIT_RULE_VAR_H

#include "base/list.h"
#include "rule/sample.h"

enum var_scope { VAR_PROC, VAR_SESS, VAR_TXN, VAR_REQ, VAR_RES, VAR_SCOPES };

/* A name, resolved once at load: numbers are compared, not texts. */
struct var_name {
	enum var_scope scope;
	unsigned int id;
};

struct vars {
	struct list all;         /* var.c's own */
	size_t bytes;            /* bounded: VARS_BYTES_MAX */
};

#define VARS_BYTES_MAX 65536

void vars_init(struct vars *v);
/* Forgets all. */
void vars_fini(struct vars *v);
/* "txn.name": 0, or -1 with *why. Names are kept for the life of the process. */
int var_name_parse(struct str text, struct var_name *out, const char **why) must_check;
/* The set of that scope in cx, or NULL. */
struct vars *var_scope_of(const struct sample_ctx *cx, enum var_scope s);
/* Keeps a copy. 0, or -ERR_NOMEM (also beyond the bound). */
int var_set(struct vars *v, struct var_name name, const struct sample *s) must_check;
void var_unset(struct vars *v, struct var_name name);
/* 1 found. Its text is the set's. */
int var_get(const struct vars *v, struct var_name name, struct sample *s);

#endif
