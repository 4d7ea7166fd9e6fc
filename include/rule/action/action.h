/*
 * Actions and rule lists: "http-request set-header Host %[req.hdr(x)] if cond" (manual 4.2 of 2.6,
 * 4.3 and 4.4 of 3.x). An action changes heads and variables itself; for the connection it sets the
 * outcome, which the proxy applies.
 */
#ifndef TACIT_RULE_ACTION_ACTION_H
#define TACIT_RULE_ACTION_ACTION_H

#include "base/list.h"
#include "rule/action/place.h"
#include "rule/match/cond.h"
#include "rule/sample/fmt.h"

enum rule_result {
	RULE_CONT,       /* the next rule */
	RULE_STOP,       /* skip the rest of this list: allow, accept */
	RULE_FINAL,      /* v->what is how the message ends: deny, return, redirect, ... */
	/* run again from this rule on when more data arrives: wait-for-body, inspect-delay */
	RULE_YIELD
};

enum rule_end {
	RULE_END_NONE,
	RULE_END_DENY,        /* reply with the answer, or with the proxy's page for v->status */
	RULE_END_TARPIT,      /* the same after timeout tarpit */
	RULE_END_REJECT,      /* close without a response */
	RULE_END_DROP,        /* silent-drop: close without notifying the client */
	RULE_END_CLOSE,       /* close the server's connection; what has come is the answer */
	RULE_END_REPLY,       /* return, redirect: sends the answer; not counted as an error */
	RULE_END_SERVICE,     /* use-service: the Prometheus exporter responds */
	/* a rewrite failed in strict mode: the proxy's page for v->status, 500 */
	RULE_END_ERROR
};

/* Number of fields that a runner reserves in the head of an answer. */
#define RULE_ANSWER_FIELDS_MAX 64

enum rule_timeout { RULE_TIMEOUT_SERVER, RULE_TIMEOUT_TUNNEL, RULE_TIMEOUTS };

/* early-hint: a field of a 103, in the arena. */
struct rule_hint {
	struct rule_hint *next;
	const struct rule *by;
	struct str name, value;
	int begins;              /* a new 103: the rule before it in the list gave no hint */
};

/*
 * The outcome of running one list. Its owner zeroes it before the first list of a message and sets
 * head. Texts lie in the arena of the sample_ctx or belong to the rule.
 */
struct rule_outcome {
	enum rule_end what;
	const struct rule *by;   /* the rule that ended it */
	unsigned int status;     /* of the answer */
	/*
	 * *head and body are the answer. 0: the proxy uses its own response for the status. The
	 * fields of the head include Content-Length.
	 */
	int has_answer;
	int is_empty;            /* with has_answer: nothing is sent (errorfile /dev/null) */
	struct http_head *head;  /* owned by the runner, with RULE_ANSWER_FIELDS_MAX fields, or
				  * NULL */
	struct str body;
	/* Without has_answer: a field that replaces those of its name in the proxy's response. p
	 * NULL: none. */
	struct str field, value;
	size_t most;             /* of the texts of the head that rules change: http_texts_size();
				  * 0: no bound */
	int non_strict;                 /* strict-mode off: failed rewrites are ignored */
	unsigned int failed_rewrites;
	int expects_proxy;       /* expect-proxy: the connection must send a PROXY header */
	int log_level;           /* set-log-level: 0 not set, -1 silent, else LOG_LEVEL_x + 1 */
	int no_l7_retry;         /* disable-l7-retry */
	struct rule_hint *hints, *last_hint; /* NULL: none */
	unsigned int timeout_ms[RULE_TIMEOUTS]; /* set-timeout: 0 not set */
	unsigned int wait_ms;    /* RULE_YIELD: maximum wait; 0: the inspect delay, or none */
	int awaits_answer;       /* RULE_YIELD: not for data, but for a name server or another
				  * request */
	int cond_waits;          /* RULE_YIELD: the condition waits, not the action */
	void *proxy;             /* for the actions of the proxy layer: struct stream */
	const char *realm;       /* of the action auth, without one of its own */
	int is_challenge;        /* the action auth has replied: the client has no valid user */
};

struct rule {
	struct list link;
	const struct rule_action *action;
	enum rule_place place;
	struct rule_cond *cond;  /* NULL: always */
	struct cfg_where where;
	struct rule_fmt *fmt[2]; /* used by the action */
	struct rule_expr *expr;
	struct str text[2];      /* owned, terminated */
	int64_t num[4];
	void *ref;               /* used by the action, freed by action->free */
};

struct rule_action {
	/* NULL ends a table; for "set-var(...)" see paren */
	const char *name;
	unsigned int places;     /* RULE_IN() */
	int paren;               /* its name is followed by "(...)" */
	int is_numbered;         /* its name is followed by a number below 100 */
	int ends;                /* the rule always ends the list */
	/*
	 * Parses from argument `arg` of ctx on (the word after the action's name); returns the
	 * first argument that it does not use ("if", "unless" or the end), or -1 after cfg_error().
	 * The rule runs where SAMPLE_AT_x `at` are available. The rule is freed in any case.
	 */
	int (*parse)(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
		unsigned int at);
	enum rule_result (*run)(const struct rule *r, struct sample_ctx *cx,
		struct rule_outcome *out);
	/* True if the rule waits for what it has begun: it continues, whatever its condition is
	 * now. NULL: never. */
	int (*has_begun)(const struct rule *r, const struct rule_outcome *out);
	void (*free)(struct rule *r);  /* frees ref; NULL: nothing to free */
	/* Checks the rule when the configuration is complete; its formats and expression have been
	 * checked. 0; or -1 with *why; or 1 with what to warn of. NULL: nothing to check. */
	int (*check)(struct rule *r, void *root, struct rule_err *why);
	const char *inner;       /* the text in the parentheses */
	const char *syntax;      /* the arguments; NULL: none */
	const char *doc;
	const struct cfg_enum *values; /* for the manual: words of the arguments; NULL: none */
	const char *example;           /* lines; NULL: none */
	intptr_t kind;
};

/* The actions of this layer, without those of the proxy layer. */
extern const struct rule_action rule_head_actions[], rule_uri_actions[], rule_var_actions[],
	rule_end_actions[], rule_redirect_actions[], rule_misc_actions[],
	rule_auth_actions[], rule_map_actions[], rule_service_actions[];

/*
 * Parses a line "http-request ACTION ... [if|unless ...]"; ctx's argument 0 is the action. Appends
 * to rules. acls: those of the section. 0, or -1 after cfg_error().
 */
int rule_parse(struct list *rules, enum rule_place place, const struct rule_acls *acls,
	const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;
/* The same for the older line "redirect ...", whose texts are not formats. */
int rule_parse_redirect(struct list *rules, const struct rule_acls *acls,
	const struct rule_vocab *v, struct cfg_ctx *ctx) must_check;
void rules_free(struct list *rules);
/* Checks the rules when the configuration is complete. 0, or -1 after errors, reported at the
 * rules' places. */
int rules_check(struct list *rules, void *root, struct cfg_diag *diag) must_check;
/*
 * Runs the list from *next on (NULL: from the start). RULE_YIELD sets *next to the rule to continue
 * with; otherwise it is NULL afterwards. RULE_CONT: the end was reached.
 */
enum rule_result rules_run(const struct list *rules, const struct rule **next,
	struct sample_ctx *cx, struct rule_outcome *out);

#endif
