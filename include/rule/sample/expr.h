/*
 * An expression: a fetch and converters, "hdr(host),lower,field(1,:)" (manual 7.3).
 */
#ifndef TACIT_RULE_SAMPLE_EXPR_H
#define TACIT_RULE_SAMPLE_EXPR_H

#include <stdint.h>

#include "base/compiler.h"
#include "rule/sample/sample.h"
#include "rule/sample/var.h"

struct rule_expr;

/*
 * The vocabulary of expressions: tables of fetches, converters, format aliases and actions. Each
 * owner has its own table; app/config/modules.c lists them. One table serves the parser, the checks
 * and the manual page.
 */
struct cfg_ctx;
struct cfg_env;
struct sbuf;
struct rule_vocab;
struct pattern_files;

/* --- arguments: "name(a,b)" --- */

enum rule_arg_type {
	ARG_END,
	ARG_STR,
	ARG_INT,      /* decimal, may be negative */
	ARG_IPV4,
	ARG_IPV6,
	ARG_IPMASK4,  /* prefix length or dotted */
	ARG_IPMASK6,
	ARG_VAR,      /* scope.name */
	ARG_INTVAR,   /* a number or a variable: given as ARG_INT or ARG_VAR */
	ARG_STRVAR,   /* a variable if it has its syntax, else text: ARG_VAR or ARG_STR */
	/* Texts that init or check of the fetch or converter turns into a->arg[i].ref: */
	ARG_REGEX,
	ARG_MAP,      /* a map file, read with the configuration */
	ARG_FRONTEND,
	ARG_BACKEND,
	ARG_SERVER,   /* server or backend/server */
	ARG_TABLE,    /* a stick table */
	ARG_ENUM
};

#define RULE_ARGS_MAX 6
#define RULE_ARGS_LEAST 2 /* an init may use so many, even if fewer are declared */

struct rule_arg {
	enum rule_arg_type type; /* ARG_END: not given */
	int64_t num;
	/*
	 * Unescaped, owned by the expression, NUL-terminated. An empty argument counts as missing
	 * unless the type is STR.
	 */
	struct str text;
	union {
		struct in_addr ipv4;
		struct in6_addr ipv6;
		struct var_name var;
	} u;
	void *ref;               /* for the fetch or converter, whose free releases it */
};

struct rule_args {
	intptr_t kind;           /* for the fetch or converter */
	unsigned int n;          /* number of arguments, including empty ones */
	unsigned int bad;        /* set by a failed init or check: the index of the invalid one */
	/* An expression has memory only for those that the row declares, and RULE_ARGS_LEAST. */
	struct rule_arg arg[RULE_ARGS_MAX];
};

struct rule_fetch {
	const char *name;        /* NULL ends a table */
	enum rule_arg_type arg[RULE_ARGS_MAX];
	unsigned int min;        /* required arguments */
	enum sample_type out;
	unsigned int needs;      /* SAMPLE_AT_x: an error at load where a rule runs without it */
	unsigned int either;     /* or at least one of these (0: none) */
	unsigned int instead;    /* replaces `needs` where one of these is available (0: none) */
	/* 1 found, 0 not (then s->may_change shows whether it may still arrive). */
	int (*fetch)(const struct rule_args *a, struct sample_ctx *cx, struct sample *s);
	/*
	 * Called when the arguments were parsed; NULL: nothing to do. 0 or -1 with why (static, or
	 * owned by the argument).
	 */
	int (*init)(struct rule_args *a, const struct rule_vocab *v, const char **why);
	/*
	 * Called at load, when all proxies are known; NULL: nothing to check. root: the
	 * configuration. 0 or -1 with why.
	 */
	int (*check)(struct rule_args *a, void *root, const char **why);
	/*
	 * Called at load, after check: whether the fetch can return the text that an ACL compares
	 * it with. NULL: any text. 0 or -1 with why.
	 */
	int (*check_pattern)(const struct rule_args *a, struct str text, const char **why);
	/* Frees the refs; NULL: nothing to free. Also called after a failed init. */
	void (*free)(struct rule_args *a);
	const char *syntax;      /* the arguments, for the manual page; NULL: none */
	const char *doc;
	intptr_t kind;           /* for the owner: a->kind in calls */
	/*
	 * In ACLs (manual 7.3.6): the fetch that this name is a synonym of, NULL: itself; the
	 * matching method, NULL: the type's default; whether name_beg, name_sub ... exist.
	 */
	const char *acl;
	const char *match;
	uint8_t derives;
};

struct rule_conv {
	const char *name;
	enum rule_arg_type arg[RULE_ARGS_MAX];
	unsigned int min;
	enum sample_type in, out; /* both ANY: the type stays as it is */
	/*
	 * *s has type in; 1 converted, 0 no result: the whole expression is not found.
	 */
	int (*conv)(const struct rule_args *a, struct sample_ctx *cx, struct sample *s);
	/* As for a fetch. */
	int (*init)(struct rule_args *a, const struct rule_vocab *v, const char **why);
	int (*check)(struct rule_args *a, void *root, const char **why);
	void (*free)(struct rule_args *a);
	const char *syntax;
	const char *doc;
	/* For the manual: lines "<expression> gives <text>", which a test evaluates, or an
	 * expression alone; NULL: none. */
	const char *example;
	intptr_t kind;
};

/* "%ci" of log formats (8.2.6): see rule/sample/fmt.h. */
struct rule_alias {
	const char *name;        /* without '%'; NULL ends a table */
	/* SAMPLE_AT_x from which on the value is final; before that it is the value so far. Only
	 * SAMPLE_AT_TXN is mandatory. */
	unsigned int needs;
	/* flags: enum rule_fmt_flag. NULL: not supported. */
	void (*write)(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out);
	const char *doc;
	unsigned int list; /* of captures: without any, logs keep one of the two blanks around it */
};

struct rule_action;      /* rule/action/action.h */
struct http_reply;       /* http/reply.h */

#define RULE_TABLES_MAX 32

struct rule_vocab {
	const struct rule_fetch *fetch[RULE_TABLES_MAX];
	const struct rule_conv *conv[RULE_TABLES_MAX];
	const struct rule_action *action[RULE_TABLES_MAX];
	const struct rule_alias *aliases; /* of formats; NULL: none */
	unsigned int n_fetch, n_conv, n_action;
	/* The environment as the configuration sees it, while it is read; NULL: none. */
	const struct cfg_env *env;
	const char *hostname;
	const char *section; /* the proxy that is read: its stick table needs no name; or NULL */
	struct pattern_files *files; /* for patterns and maps; NULL: not supported */
	/*
	 * The page of an http-errors section for that status, when root, the configuration, is
	 * complete. NULL with why: there is no such page. NULL: there are no such sections.
	 */
	struct http_reply *(*page)(const void *root, const char *section, unsigned int status,
		const char **why);
};

/* -ERR_RANGE when there are too many tables. */
int rule_vocab_add_fetches(struct rule_vocab *v, const struct rule_fetch *table) must_check;
int rule_vocab_add_convs(struct rule_vocab *v, const struct rule_conv *table) must_check;
int rule_vocab_add_actions(struct rule_vocab *v, const struct rule_action *table) must_check;
/*
 * The meaning of a name as the criterion of an ACL: hdr_beg is the fetch req.hdr, and *match "beg";
 * hdr is req.hdr and "str"; src is src and NULL: the type's default.
 */
const struct rule_fetch *rule_find_acl_fetch(const struct rule_vocab *v, struct str name,
	const char **match);
/* True if the name is one that only a script can make: "lua.x". */
int rule_is_of_lua(struct str name);

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
