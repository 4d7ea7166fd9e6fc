/*
 * The words of expressions: tables of fetches, converters, format aliases and actions. Each
 * owner keeps its own table; app/config/modules.c lists them, as it lists keywords. One table makes
 * the parser, the checks and the manual page.
 */
#ifndef TACIT_RULE_SAMPLE_VOCAB_H
#define TACIT_RULE_SAMPLE_VOCAB_H

#include <stdint.h>

#include "base/compiler.h"
#include "rule/sample/sample.h"
#include "rule/sample/var.h"

struct cfg_ctx;
struct cfg_env;
struct sbuf;
struct rule_vocab;
struct pattern_files;

/* --- arguments: "name(a,b)" --- */

enum rule_arg_type {
	ARG_END,
	ARG_STR,
	ARG_INT,      /* decimal, maybe negative */
	ARG_IPV4,
	ARG_IPV6,
	ARG_IPMASK4,  /* prefix length or dotted */
	ARG_IPMASK6,
	ARG_VAR,      /* scope.name */
	ARG_INTVAR,   /* a number or a variable: given as ARG_INT or ARG_VAR */
	ARG_STRVAR,   /* a variable if it looks like one, else text: ARG_VAR or ARG_STR */
	/* Texts, which init or check of the fetch or converter turns into a->arg[i].ref: */
	ARG_REGEX,
	ARG_MAP,      /* a map file, read when the configuration is */
	ARG_FRONTEND,
	ARG_BACKEND,
	ARG_SERVER,   /* server or backend/server */
	ARG_ENUM
};

#define RULE_ARGS_MAX 6

struct rule_arg {
	enum rule_arg_type type; /* ARG_END: not given */
	int64_t num;
	/*
	 * Unescaped, owned by the expression, NUL-terminated. Not empty but where the type is
	 * STR: what is left empty counts as not given.
	 */
	struct str text;
	union {
		struct in_addr ipv4;
		struct in6_addr ipv6;
		struct var_name var;
	} u;
	void *ref;               /* of the fetch or converter, whose free releases it */
};

struct rule_args {
	intptr_t kind;           /* of the fetch or converter */
	unsigned int n;          /* given, empty ones among them included */
	unsigned int bad;        /* set by an init or check that fails: which one is wrong */
	struct rule_arg arg[RULE_ARGS_MAX];
};

struct rule_fetch {
	const char *name;        /* NULL ends a table */
	enum rule_arg_type arg[RULE_ARGS_MAX];
	unsigned int min;        /* arguments that must be given */
	enum sample_type out;
	unsigned int needs;      /* SAMPLE_AT_x: an error at load where a rule runs without it */
	unsigned int either;     /* or one of these, at least (0: nothing) */
	/* 1 found, 0 not (then s->may_change says whether it may come yet). */
	int (*fetch)(const struct rule_args *a, struct sample_ctx *cx, struct sample *s);
	/*
	 * As soon as the arguments are parsed; NULL: nothing to do. 0 or -1 with why (static, or
	 * of the argument).
	 */
	int (*init)(struct rule_args *a, const struct rule_vocab *v, const char **why);
	/*
	 * At load, when all proxies are known; NULL: nothing to check. root: the configuration.
	 * 0 or -1 with why.
	 */
	int (*check)(struct rule_args *a, void *root, const char **why);
	/*
	 * At load, after check: can the fetch give what an ACL compares it with, as it is written?
	 * NULL: anything. 0 or -1 with why.
	 */
	int (*check_pattern)(const struct rule_args *a, struct str text, const char **why);
	/* Of the refs; NULL: nothing to free. Also after an init that failed. */
	void (*free)(struct rule_args *a);
	const char *syntax;      /* the arguments, for the manual page; NULL: none */
	const char *doc;
	intptr_t kind;           /* the owner's: in a->kind when it is called */
	/*
	 * In ACLs (manual 7.3.6): the fetch that this name stands for there, NULL: itself; the
	 * method it is matched with, NULL: its type's; whether name_beg, name_sub ... exist.
	 */
	const char *acl;
	const char *match;
	uint8_t derives;
};

struct rule_conv {
	const char *name;
	enum rule_arg_type arg[RULE_ARGS_MAX];
	unsigned int min;
	enum sample_type in, out;
	/*
	 * *s is of type in; 1 converted, 0 there is no result: the whole expression is not
	 * found.
	 */
	int (*conv)(const struct rule_args *a, struct sample_ctx *cx, struct sample *s);
	/* As those of a fetch. */
	int (*init)(struct rule_args *a, const struct rule_vocab *v, const char **why);
	int (*check)(struct rule_args *a, void *root, const char **why);
	void (*free)(struct rule_args *a);
	const char *syntax;
	const char *doc;
	intptr_t kind;
};

/* "%ci" of log formats (8.2.6): see rule/sample/fmt.h. */
struct rule_alias {
	const char *name;        /* without '%'; NULL ends a table */
	/* SAMPLE_AT_x from when on it is known; written earlier it is what is known so far. Only
	 * SAMPLE_AT_TXN must hold. */
	unsigned int needs;
	/* flags: enum rule_fmt_flag. NULL: not supported. */
	void (*write)(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out);
	const char *doc;
};

struct rule_action;      /* rule/action/action.h */
struct http_reply;       /* http/reply.h */

#define RULE_TABLES_MAX 32

struct rule_vocab {
	const struct rule_fetch *fetch[RULE_TABLES_MAX];
	const struct rule_conv *conv[RULE_TABLES_MAX];
	const struct rule_action *action[RULE_TABLES_MAX];
	const struct rule_alias *aliases; /* of formats; NULL: none are known */
	unsigned int n_fetch, n_conv, n_action;
	/* What the configuration sees of the environment, while it is read; NULL: nothing. */
	const struct cfg_env *env;
	const char *hostname;
	struct pattern_files *files; /* of patterns and maps; NULL: they cannot be read */
	/*
	 * The page for that status of an http-errors section, once root, the configuration, is
	 * complete. NULL with why: there is none that is an answer. NULL: there are no such
	 * sections.
	 */
	struct http_reply *(*page)(const void *root, const char *section, unsigned int status,
		const char **why);
};

/* -ERR_RANGE when there are too many tables. */
int rule_vocab_add_fetches(struct rule_vocab *v, const struct rule_fetch *table) must_check;
int rule_vocab_add_convs(struct rule_vocab *v, const struct rule_conv *table) must_check;
int rule_vocab_add_actions(struct rule_vocab *v, const struct rule_action *table) must_check;
const struct rule_fetch *rule_find_fetch(const struct rule_vocab *v, struct str name);
const struct rule_conv *rule_find_conv(const struct rule_vocab *v, struct str name);
/*
 * What a name means as the criterion of an ACL: hdr_beg is the fetch req.hdr, and *match "beg"; hdr
 * is req.hdr and "str"; src is src and NULL: matched as its type is.
 */
const struct rule_fetch *rule_find_acl_fetch(const struct rule_vocab *v, struct str name,
	const char **match);
/* The nearest name to one that is not there, or NULL. */
const char *rule_suggest_fetch(const struct rule_vocab *v, struct str name);
const char *rule_suggest_conv(const struct rule_vocab *v, struct str name);
/* HAProxy has it and we do not. */
int rule_is_known_fetch(struct str name);
int rule_is_known_conv(struct str name);

#endif
