/*
 * The rule expect of http-check and tcp-check: what does not depend on the protocol. Main thread,
 * while the configuration is read.
 */
#ifndef TACIT_PROXY_CONFIG_CHECK_EXPECT_CFG_H
#define TACIT_PROXY_CONFIG_CHECK_EXPECT_CFG_H

#include "proxy/config/check_rule_cfg.h"

/* Options, to be put into a table of words. */
#define CHECK_EXPECT_WORDS                                                                     \
	{ "comment", 1, check_cfg_comment, 0, NULL },                                          \
		{ "min-recv", 1, check_cfg_expect_min_recv, 0, NULL },                         \
		{ "ok-status", 1, check_cfg_expect_status, 0, NULL },                          \
		{ "error-status", 1, check_cfg_expect_status, 1, NULL },                       \
		{ "tout-status", 1, check_cfg_expect_status, 2, NULL },                        \
		{ "on-success", 1, check_cfg_expect_fmt, 0, NULL },                            \
		{ "on-error", 1, check_cfg_expect_fmt, 1, NULL },                              \
		{ "status-code", 1, check_cfg_expect_code, 0, NULL }
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
int check_cfg_parse_expect(struct cfg_ctx *ctx, const struct check_word *table, int is_http);

#endif
