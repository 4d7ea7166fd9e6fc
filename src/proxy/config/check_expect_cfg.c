/* The rule expect of http-check and tcp-check: what both have in common. Main thread, while the
 * configuration is read. */
#include "proxy/config/check_expect_cfg.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"

int
check_cfg_expect_min_recv(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return cfg_arg_int(ctx, i, -1, INT_MAX, &r->u.expect.min_recv) ? -1 : 1;
}

/* arg: 0 ok-status, 1 error-status, 2 tout-status. */
int
check_cfg_expect_status(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	static const struct cfg_enum ok[] = { { "L7OK", CHECK_L7OK }, { "L7OKC", CHECK_L7OKC },
		{ "L6OK", CHECK_L6OK }, { "L4OK", CHECK_L4OK }, { NULL, 0 } };
	static const struct cfg_enum error[] = { { "L7OKC", CHECK_L7OKC }, { "L7RSP", CHECK_L7RSP },
		{ "L7STS", CHECK_L7STS }, { "L6RSP", CHECK_L6RSP }, { "L4CON", CHECK_L4CON },
		{ NULL, 0 } };
	static const struct cfg_enum tout[] = { { "L7TOUT", CHECK_L7TOUT },
		{ "L6TOUT", CHECK_L6TOUT }, { "L4TOUT", CHECK_L4TOUT }, { NULL, 0 } };
	static const struct cfg_enum *const tables[] = { ok, error, tout };
	struct check_expect *e = &r->u.expect;
	enum check_status *const fields[] = { &e->ok_status, &e->error_status, &e->tout_status };
	int status;

	if (cfg_arg_enum(ctx, i, tables[arg], &status))
		return -1;
	*fields[arg] = (enum check_status)status;
	return 1;
}

/* arg: 0 on-success, 1 on-error. */
int
check_cfg_expect_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	return check_cfg_fmt(ctx, i, 0, arg ? &r->u.expect.on_error : &r->u.expect.on_success) ? -1
											       : 1;
}

int
check_cfg_expect_code(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return check_cfg_expr(ctx, i, &r->u.expect.status_code) ? -1 : 1;
}

/* --- patterns --- */

int
check_cfg_expect_match(struct cfg_ctx *ctx, int i, struct check_rule *r, enum check_match m)
{
	struct check_expect *e = &r->u.expect;

	if (e->has_match)
		return cfg_error(ctx, i - 1, "'%s' : only one match pattern is allowed.",
			cfg_kw_name(ctx));
	e->has_match = 1;
	e->match = m;
	return 0;
}

#define PATTERN offsetof(struct check_rule, u.expect.pattern.text)

int
check_cfg_expect_text(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg))
		return -1;
	return arg == CHECK_MATCH_BINARY ? check_cfg_text_hex(ctx, i, r, PATTERN)
					 : check_cfg_text(ctx, i, r, PATTERN);
}

int
check_cfg_expect_text_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg))
		return -1;
	return check_cfg_text_fmt(ctx, i, r, PATTERN);
}

/* The text is kept for messages. */
int
check_cfg_expect_regex(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg)
{
	if (check_cfg_expect_match(ctx, i, r, (enum check_match)arg) ||
		check_cfg_regex(ctx, i, 0, &r->u.expect.pattern.regex))
		return -1;
	return check_cfg_text(ctx, i, r, PATTERN);
}

int
check_cfg_parse_expect(struct cfg_ctx *ctx, const struct check_word *table, int is_http)
{
	struct check_rule *r = check_cfg_add(ctx, CHECK_RULE_EXPECT);

	if (!r)
		return -1;
	r->u.expect.is_http = (uint8_t)is_http;
	if (check_cfg_words(ctx, 0, table, r))
		return -1;
	if (!r->u.expect.has_match)
		return cfg_error(ctx, ctx->argc, "'%s' : a match with its pattern is missing.",
			cfg_kw_name(ctx));
	return 0;
}
