/*
 * The common part of http-check and tcp-check: the words of a rule's line and the rules connect,
 * comment, set-var and unset-var. Main thread, while the configuration is read. Functions return 0,
 * or -1 after they have reported an error.
 */
#ifndef TACIT_PROXY_CONFIG_CHECK_RULE_CFG_H
#define TACIT_PROXY_CONFIG_CHECK_RULE_CFG_H

#include "cfg/ctx.h"
#include "proxy/config/check_connect_cfg.h"
#include "proxy/model/check_conf.h"

/* A word of a rule's line. */
struct check_word {
	const char *name;            /* NULL ends a table */
	int args;                    /* number of arguments; take() may use more */
	/* i: the first argument. The number of arguments that it used, or -1 after an error. */
	int (*take)(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
	intptr_t arg;
	const char *why_not;         /* not NULL: not supported, and why */
};

/* The words from argument `first` on. */
int check_cfg_words(struct cfg_ctx *ctx, int first, const struct check_word *table,
	struct check_rule *r) must_check;
/* take() of `comment`. */
int check_cfg_comment(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;
/* take() of a text, a format, and both as hexadecimal digits: arg is the offset of a struct
 * check_text in the rule. */
int check_cfg_text(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;
int check_cfg_text_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;
int check_cfg_text_hex(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;

/* The family of the keyword: http-check or tcp-check. */
enum check_family check_cfg_family(const struct cfg_ctx *ctx);
/* A new rule of this line; NULL after an error. Sets the family of the section's rules. */
struct check_rule *check_cfg_add(struct cfg_ctx *ctx, enum check_rule_kind kind) must_check;

/* Argument i as a format (style: 0 or RULE_FMT_RAW), or as an expression; what *out was before is
 * freed. */
int check_cfg_fmt(struct cfg_ctx *ctx, int i, unsigned int style,
	struct rule_fmt **out) must_check;
int check_cfg_expr(struct cfg_ctx *ctx, int i, struct rule_expr **out) must_check;
/* Argument i as a regular expression (flags: 0 or REGEX_NOCASE); *out must be NULL. */
int check_cfg_regex(struct cfg_ctx *ctx, int i, unsigned int flags,
	struct regex **out) must_check;

/* The keywords comment, and set-var(...), set-var-fmt(...), unset-var(...). */
int check_cfg_parse_comment(struct cfg_ctx *ctx) must_check;
int check_cfg_parse_var(struct cfg_ctx *ctx) must_check;

/*
 * The rows of these keywords in a table of struct cfg_kw. ruleset: "http-check" or "tcp-check",
 * which is a keyword by itself for the rules on variables.
 */
#define CHECK_RULE_KWS(ruleset)                                                                    \
	{ .name = ruleset,                                                                         \
		.sections = CFG_BE,                                                                \
		.min = 1,                                                                          \
		.max = CFG_ANY,                                                                    \
		.parse = check_cfg_parse_var,                                                      \
		.syntax = "{set-var(<name>[,<cond>...]) <expr> | set-var-fmt(<name>[,<cond>...]) " \
			  "<fmt> | unset-var(<name>)}",                                            \
		.doc = "Sets or deletes a variable in a health check." },                          \
	{ .name = ruleset " comment",                                                              \
		.sections = CFG_BE,                                                                \
		.min = 1,                                                                          \
		.max = CFG_ANY,                                                                    \
		.parse = check_cfg_parse_comment,                                                  \
		.syntax = "<text>",                                                                \
		.doc = "A comment on the next " ruleset " rule, for the log." },                   \
	{ .name = ruleset " connect",                                                              \
		.sections = CFG_BE,                                                                \
		.max = CFG_ANY,                                                                    \
		.parse = check_cfg_parse_connect,                                                  \
		.syntax = "[default] [port <expr>] [addr <ip>] [send-proxy] [via-socks4] "         \
			  "[ssl] [sni <name>] [alpn <protocols>] [linger] [proto <name>] "         \
			  "[comment <text>]",                                       \
		.doc = "Opens a new connection: without TLS, PROXY header and SOCKS4 proxy, "      \
		       "unless the words ssl, send-proxy or via-socks4 are there, or default, "    \
		       "which stands for the server line's options of checks." }

#endif
