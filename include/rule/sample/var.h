/*
 * Variables of rules: set-var(txn.name) (manual 2.8). A set has an owner (a session, a
 * transaction) and ends with it.
 */
#ifndef TACIT_RULE_SAMPLE_VAR_H
#define TACIT_RULE_SAMPLE_VAR_H

#include "base/list.h"
#include "base/lock.h"
#include "rule/sample/sample.h"

enum var_scope { VAR_PROC, VAR_SESS, VAR_TXN, VAR_REQ, VAR_RES, VAR_CHECK, VAR_SCOPES };

/*
 * A resolved name: a 64-bit hash of name and scope. 64 bits are sufficient for the names of a
 * configuration, and no shared table is needed.
 */
struct var_name {
	enum var_scope scope;
	uint64_t id;
};

/*
 * A set of one worker, or, for scope proc, of all: that one has a lock, and only the functions with
 * a sample_ctx may be used.
 */
struct vars {
	struct list all;         /* var.c's own */
	size_t bytes;            /* limited: VARS_BYTES_MAX */
	struct lock *lock;       /* set by the owner after vars_init(), or NULL */
};

#define VARS_BYTES_MAX 65536
#define VAR_NAME_MAX 255

static inline void
vars_init(struct vars *v)
{
	list_init(&v->all);
	v->bytes = 0;
	v->lock = NULL;
}

/* Deletes all variables. */
void vars_fini(struct vars *v);
/* Moves all variables to an empty set that is not in use yet. */
void vars_move(struct vars *to, struct vars *from);
/* "txn.name": 0, or -1 with *why. */
int var_name_parse(struct str text, struct var_name *out, const char **why) must_check;

/* Stores a copy in the scope of the name. 0, -ERR_MISSING: cx has no such scope, or -ERR_NOMEM
 * (also above the limit), when the variable is unchanged. */
int var_store(const struct sample_ctx *cx, struct var_name name, const struct sample *s) must_check;
void var_forget(const struct sample_ctx *cx, struct var_name name);
/*
 * 1 found. Its text belongs to the scope and is valid until the variable changes; the text of a
 * variable shared by workers is copied into cx's arena.
 */
int var_find(const struct sample_ctx *cx, struct var_name name, struct sample *s);

#endif
