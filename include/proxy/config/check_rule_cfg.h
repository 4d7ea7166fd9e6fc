/*
 * The common part of http-check and tcp-check: the words of a rule's line and the rules connect,
 * expect, comment, set-var and unset-var. Main thread, while the configuration is read. Functions
 * return 0, or -1 after they have reported an error.
 */
#ifndef TACIT_PROXY_CONFIG_CHECK_RULE_CFG_H
#define TACIT_PROXY_CONFIG_CHECK_RULE_CFG_H

#include "base/compiler.h"
#include "cfg/ctx.h"
#include "proxy/model/check_conf.h"

/* A word of a rule's line: the row whose number is the value of the word's name. */
struct check_word {
	int args;                    /* number of arguments; take() may use more */
	/* i: the first argument. The number of arguments that it used, or -1 after an error. */
	int (*take)(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
	intptr_t arg;
};

/* Words that `expect` of http-check and of tcp-check has. */
enum {
	CHECK_EXPECT_COMMENT,
	CHECK_EXPECT_MIN_RECV,
	CHECK_EXPECT_OK_STATUS,
	CHECK_EXPECT_ERROR_STATUS,
	CHECK_EXPECT_TOUT_STATUS,
	CHECK_EXPECT_ON_SUCCESS,
	CHECK_EXPECT_ON_ERROR,
	CHECK_EXPECT_STATUS_CODE,
	CHECK_EXPECT_OWN /* the first of its own */
};

/* Their rows, and their names. */
#define CHECK_EXPECT_ROWS                                                                      \
	[CHECK_EXPECT_COMMENT] = { 1, check_cfg_comment, 0 },                                  \
	[CHECK_EXPECT_MIN_RECV] = { 1, check_cfg_expect_min_recv, 0 },                         \
	[CHECK_EXPECT_OK_STATUS] = { 1, check_cfg_expect_status, 0 },                          \
	[CHECK_EXPECT_ERROR_STATUS] = { 1, check_cfg_expect_status, 1 },                       \
	[CHECK_EXPECT_TOUT_STATUS] = { 1, check_cfg_expect_status, 2 },                        \
	[CHECK_EXPECT_ON_SUCCESS] = { 1, check_cfg_expect_fmt, 0 },                            \
	[CHECK_EXPECT_ON_ERROR] = { 1, check_cfg_expect_fmt, 1 },                              \
	[CHECK_EXPECT_STATUS_CODE] = { 1, check_cfg_expect_code, 0 }

#define CHECK_EXPECT_NAMES \
	{ "comment <text>", CHECK_EXPECT_COMMENT, "A comment, for the log." }, \
	{ "min-recv <bytes>", CHECK_EXPECT_MIN_RECV, "Waits for at least so many bytes; -1 for " \
		"all that comes." }, \
	{ "ok-status <status>", CHECK_EXPECT_OK_STATUS, "The result of the check if the response " \
		"is as expected: L7OK, L7OKC, L6OK or L4OK." }, \
	{ "error-status <status>", CHECK_EXPECT_ERROR_STATUS, "The result if it is not: L7OKC, " \
		"L7RSP, L7STS, L6RSP or L4CON." }, \
	{ "tout-status <status>", CHECK_EXPECT_TOUT_STATUS, "The result if no response comes in " \
		"time: L7TOUT, L6TOUT or L4TOUT." }, \
	{ "on-success <fmt>", CHECK_EXPECT_ON_SUCCESS, "Text of the log when the response is as " \
		"expected." }, \
	{ "on-error <fmt>", CHECK_EXPECT_ON_ERROR, "Text of the log when it is not." }, \
	{ "status-code <expr>", CHECK_EXPECT_STATUS_CODE, "The code that the check reports." }, \
	{ "!", -1, "The response must not match." }

/* The words from argument `first` on; names: with rows as values. */
int check_cfg_words(struct cfg_ctx *ctx, int first, const struct cfg_enum *names,
	const struct check_word *rows, struct check_rule *r) must_check;
/* take() of `comment`. */
int check_cfg_comment(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;
/* take() of a text, a format, and both as hexadecimal digits: arg is the offset of a struct
 * check_text in the rule. */
int check_cfg_text(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;
int check_cfg_text_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;
int check_cfg_text_hex(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg) must_check;

/* A new rule of this line; NULL after an error. Sets the family of the section's rules. */
struct check_rule *check_cfg_add(struct cfg_ctx *ctx, enum check_rule_kind kind) must_check;

/* Argument i as a format (style: 0 or RULE_FMT_RAW), or as an expression; what *out was before is
 * freed. */
int check_cfg_fmt(struct cfg_ctx *ctx, int i, unsigned int style,
	struct rule_fmt **out) must_check;
/* Argument i as a regular expression (flags: 0 or REGEX_NOCASE); *out must be NULL. */
int check_cfg_regex(struct cfg_ctx *ctx, int i, unsigned int flags,
	struct regex **out) must_check;

/* The keywords comment, and set-var(...), set-var-fmt(...), unset-var(...). */
int check_cfg_parse_comment(struct cfg_ctx *ctx) must_check;
int check_cfg_parse_var(struct cfg_ctx *ctx) must_check;

/* The words of the rule connect. */
extern const struct cfg_enum check_connect_words[];

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
		.doc = "Sets or deletes a variable in a health check.",                            \
		.dflt = "none" },                                                                  \
	{ .name = ruleset " comment",                                                              \
		.sections = CFG_BE,                                                                \
		.min = 1,                                                                          \
		.max = CFG_ANY,                                                                    \
		.parse = check_cfg_parse_comment,                                                  \
		.syntax = "<text>",                                                                \
		.doc = "A comment on the next " ruleset " rule, for the log.",                     \
		.dflt = "none" },                                                                  \
	{ .name = ruleset " connect",                                                              \
		.sections = CFG_BE,                                                                \
		.max = CFG_ANY,                                                                    \
		.parse = check_cfg_parse_connect,                                                  \
		.syntax = "[default] [port <expr>] [addr <ip>] [send-proxy] [via-socks4] "         \
			  "[ssl] [sni <name>] [alpn <protocols>] [linger] [proto <name>] "         \
			  "[comment <text>]",                                       \
		.doc = "Opens a new connection: without TLS, PROXY header and SOCKS4 proxy, "      \
		       "unless these words say otherwise.",                                        \
		.dflt = "one connection, as the server line's options of checks say",              \
		.values = check_connect_words }

/* The line of a rule connect. 0, or -1 after it has reported an error. */
int check_cfg_parse_connect(struct cfg_ctx *ctx) must_check;

int check_cfg_expect_min_recv(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
int check_cfg_expect_status(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
int check_cfg_expect_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
int check_cfg_expect_code(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
/* Patterns of string, rstring, binary ...: arg is the enum check_match. */
int check_cfg_expect_text(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
int check_cfg_expect_text_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
int check_cfg_expect_regex(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg);
/* Sets the kind of match: -1 when there is one already. */
int check_cfg_expect_match(struct cfg_ctx *ctx, int i, struct check_rule *r, enum check_match m);
/* The whole line of `expect`. */
int check_cfg_parse_expect(struct cfg_ctx *ctx, const struct cfg_enum *names,
	const struct check_word *rows, int is_http);

#endif
