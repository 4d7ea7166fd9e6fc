/*
 * Actions and lists of rules: "http-request set-header Host %[req.hdr(x)] if cond" (manual 4.3 and
 * 4.4). What an action does to heads and variables it does itself; what concerns the connection it
 * asks for in the verdict, and the proxy carries it out.
 */
#ifndef TACIT_RULE_ACTION_H
#define TACIT_RULE_ACTION_H

#include "base/list.h"
#include "rule/cond.h"
#include "rule/fmt.h"

/* Where rules run, one list each. */
enum rule_place {
	RULE_TCP_CONNECTION,
	RULE_TCP_SESSION,
	RULE_TCP_REQ_CONTENT,
	RULE_TCP_RES_CONTENT,
	RULE_HTTP_REQUEST,
	RULE_HTTP_RESPONSE,
	RULE_HTTP_AFTER_RESPONSE,
	RULE_PLACES
};

enum rule_result {
	RULE_CONT,       /* the next rule */
	RULE_STOP,       /* no rule of this list any more: allow, accept */
	RULE_FINAL,      /* v->what says how it ends: deny, return, redirect, ... */
	/* run again from this rule on when there is more: wait-for-body, inspect-delay */
	RULE_YIELD
};

enum rule_end {
	RULE_END_NONE,
	RULE_END_DENY,        /* answer v->status */
	RULE_END_TARPIT,      /* the same after timeout tarpit */
	RULE_END_REJECT,      /* close without an answer */
	RULE_END_DROP,        /* silent-drop: close without telling the client */
	RULE_END_REPLY        /* v->head and v->body are the answer: return, redirect */
};

/* Of one run over one list. The texts lie in the arena of the sample_ctx, or are the rule's. */
struct rule_verdict {
	enum rule_end what;
	unsigned int status;
	struct http_head *head;  /* of RULE_END_REPLY; the runner's, empty before */
	struct str body;
	int log_level;           /* set-log-level: 0 not set, -1 silent, else LOG_LEVEL_x + 1 */
	unsigned int timeout_ms[2]; /* set-timeout tunnel, server: 0 not set */
	unsigned int wait_ms;    /* RULE_YIELD: how long at most */
	void *proxy;             /* for the actions of the proxy layer: struct session */
};

struct rule {
	struct list link;
	const struct rule_action *action;
	struct rule_cond *cond;  /* NULL: always */
	struct cfg_where where;
	struct rule_fmt *fmt[2]; /* as the action needs them */
	struct rule_expr *expr;
	struct str text[2];      /* owned */
	int64_t num[4];
	void *ref;               /* the action's, freed by action->free */
};

struct rule_action {
	/* NULL ends a table; "set-var" also takes "set-var(...)": see paren */
	const char *name;
	unsigned int places;     /* 1u << RULE_x */
	int paren;               /* its name is followed by "(...)" */
	/*
	 * From argument `arg` of ctx on (the word behind the action's name); returns the number of
	 * the first argument that is not its own ("if", "unless" or the end), or -1 after
	 * cfg_error(). acts at SAMPLE_AT_x `at`.
	 */
	int (*parse)(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
		unsigned int at);
	enum rule_result (*run)(const struct rule *r, struct sample_ctx *cx, struct
	rule_verdict *out);
	void (*free)(struct rule *r);  /* of ref; NULL: nothing */
	const char *syntax;
	const char *doc;
	intptr_t kind;
};

/* One line "http-request ACTION ... [if|unless ...]"; ctx's argument 0 is the action. Appends to
 * rules. */
int rule_parse(struct list *rules, enum rule_place place, const struct rule_acls *acls,
	const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;
void rules_free(struct list *rules);
int rules_check(struct list *rules, void *root, struct cfg_diag *diag) must_check;
/*
 * Runs the list from *next on (NULL: from the start). RULE_YIELD leaves *next at the rule to go on
 * with. RULE_CONT: the end was reached.
 */
enum rule_result rules_run(const struct list *rules, const struct rule **next,
	struct sample_ctx *cx, struct rule_verdict *out);
/* SAMPLE_AT_x that hold where rules of that place run. */
unsigned int rule_place_scope(enum rule_place p);

#endif
