/*
 * Actions and lists of rules: "http-request set-header Host %[req.hdr(x)] if cond" (manual 4.2 of
 * 2.6, 4.3 and 4.4 of 3.x). What an action does to heads and variables it does itself; what
 * concerns the connection it asks for in the verdict, and the proxy carries it out.
 */
#ifndef TACIT_RULE_ACTION_ACTION_H
#define TACIT_RULE_ACTION_ACTION_H

#include "base/list.h"
#include "rule/action/place.h"
#include "rule/match/cond.h"
#include "rule/sample/fmt.h"

enum rule_result {
	RULE_CONT,       /* the next rule */
	RULE_STOP,       /* no rule of this list any more: allow, accept */
	RULE_FINAL,      /* v->what says how it ends: deny, return, redirect, ... */
	/* run again from this rule on when there is more: wait-for-body, inspect-delay */
	RULE_YIELD
};

enum rule_end {
	RULE_END_NONE,
	RULE_END_DENY,        /* answer, or the proxy's page for v->status */
	RULE_END_TARPIT,      /* the same after timeout tarpit */
	RULE_END_REJECT,      /* close without an answer */
	RULE_END_DROP,        /* silent-drop: close without telling the client */
	RULE_END_REPLY,       /* return, redirect: the same answer, but nobody is to blame */
	/* a rewrite failed in strict mode: the proxy's page for v->status, which is 500 */
	RULE_END_ERROR
};

/* Room that a runner gives the head of an answer. */
#define RULE_ANSWER_FIELDS_MAX 64

enum rule_timeout { RULE_TIMEOUT_SERVER, RULE_TIMEOUT_TUNNEL, RULE_TIMEOUTS };

/*
 * Of one run over one list; its owner zeroes it before the first list of a message, and sets head.
 * The texts lie in the arena of the sample_ctx, or are the rule's.
 */
struct rule_outcome {
	enum rule_end what;
	const struct rule *by;   /* the rule that ended it */
	unsigned int status;     /* of the answer */
	/*
	 * *head and body are the answer. 0: the proxy has to make the answer that it has for the
	 * status. Content-Length is among the fields of the head.
	 */
	int has_answer;
	int is_empty;            /* with has_answer: nothing is sent (errorfile /dev/null) */
	struct http_head *head;  /* the runner's, with RULE_ANSWER_FIELDS_MAX places, or NULL */
	struct str body;
	/* Without has_answer: the only field of that name that the proxy's answer is to have. p
	 * NULL: it stays as it is. */
	struct str field, value;
	int non_strict;                 /* strict-mode off: a rewrite that fails is left undone */
	unsigned int failed_rewrites;
	int expects_proxy;       /* expect-proxy: the connection is to bring that header */
	int log_level;           /* set-log-level: 0 not set, -1 silent, else LOG_LEVEL_x + 1 */
	int no_l7_retry;         /* disable-l7-retry */
	unsigned int timeout_ms[RULE_TIMEOUTS]; /* set-timeout: 0 not set */
	unsigned int wait_ms;    /* RULE_YIELD: how long at most; 0: as long as inspection may */
	void *proxy;             /* for the actions of the proxy layer: struct session */
	const char *name;        /* of the proxy whose rules run */
};

struct rule {
	struct list link;
	const struct rule_action *action;
	enum rule_place place;
	struct rule_cond *cond;  /* NULL: always */
	struct cfg_where where;
	struct rule_fmt *fmt[2]; /* as the action needs them */
	struct rule_expr *expr;
	struct str text[2];      /* owned, terminated */
	int64_t num[4];
	void *ref;               /* the action's, freed by action->free */
};

struct rule_action {
	/* NULL ends a table; "set-var" also takes "set-var(...)": see paren */
	const char *name;
	unsigned int places;     /* RULE_IN() */
	int paren;               /* its name is followed by "(...)" */
	int ends;                /* whenever it runs, what is behind it does not */
	/*
	 * From argument `arg` of ctx on (the word behind the action's name); returns the number of
	 * the first argument that is not its own ("if", "unless" or the end), or -1 after
	 * cfg_error(). It runs where SAMPLE_AT_x `at` hold. What it has put into the rule is freed
	 * with it in any case.
	 */
	int (*parse)(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
		unsigned int at);
	enum rule_result (*run)(const struct rule *r, struct sample_ctx *cx,
		struct rule_outcome *out);
	void (*free)(struct rule *r);  /* of ref; NULL: nothing */
	/* The configuration is complete; its formats and expression are checked already. 0, or -1
	 * with *why. NULL: nothing to check. */
	int (*check)(struct rule *r, void *root, struct rule_err *why);
	const char *inner;       /* what stands in the parentheses */
	const char *syntax;      /* the arguments; NULL: none */
	const char *doc;
	intptr_t kind;
};

/* The actions of this layer: all but those of the proxy's own. */
extern const struct rule_action rule_head_actions[], rule_uri_actions[], rule_var_actions[],
	rule_end_actions[], rule_redirect_actions[], rule_misc_actions[],
	rule_auth_actions[], rule_map_actions[];

/* For the parsers of actions, here and in other layers. Arguments arg..arg+n-1 are there: 0, or -1
 * after an error that shows the action's syntax. */
int act_need(const struct rule *r, struct cfg_ctx *ctx, int arg, int n) must_check;
/* An expression as argument `arg`, in place of what *out was: 0, or -1 after an error. */
int act_expr(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, struct rule_expr **out) must_check;
/* A rewrite could not be done: the end of the message in strict mode, else the next rule. */
enum rule_result act_failed(const struct rule *r, struct rule_outcome *out);

/*
 * One line "http-request ACTION ... [if|unless ...]"; ctx's argument 0 is the action. Appends to
 * rules. acls: those of the section. 0, or -1 after cfg_error().
 */
int rule_parse(struct list *rules, enum rule_place place, const struct rule_acls *acls,
	const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;
/* The same of a line "redirect ...", which is older: its texts are no formats. */
int rule_parse_redirect(struct list *rules, const struct rule_acls *acls,
	const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;
void rules_free(struct list *rules);
/* The configuration is complete. 0, or -1 after errors at the places of the rules. */
int rules_check(struct list *rules, void *root, struct cfg_diag *diag) must_check;
/*
 * Runs the list from *next on (NULL: from the start). RULE_YIELD leaves *next at the rule to go on
 * with, otherwise it is NULL afterwards. RULE_CONT: the end was reached.
 */
enum rule_result rules_run(const struct list *rules, const struct rule **next,
	struct sample_ctx *cx, struct rule_outcome *out);

#endif
