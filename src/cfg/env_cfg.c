/* The keywords setenv, presetenv, unsetenv and resetenv. Main thread, while the configuration
 * is read. */
#include "cfg/env_cfg.h"

#include <errno.h>
#include <stddef.h>

#include "cfg/ctx.h"
#include "cfg/env.h"

enum { KEEP_MAX = 256 };	/* maximum names for one resetenv */

static int
report_env(struct cfg_ctx *ctx, int rc)
{
	if (rc == -EINVAL)
		return cfg_error(ctx, 0, "'%s': '%.60s' is not the name of a variable.",
			cfg_kw_name(ctx), cfg_arg(ctx, 0));
	if (rc == -E2BIG)
		return cfg_error(ctx, 0, "'%s': too many variables; the limit is %d.",
				 cfg_kw_name(ctx), CFG_ENV_MAX);
	return rc ? cfg_nomem(ctx) : 0;
}

/* An empty string counts as no argument but is a valid value. */
static int
check_value(struct cfg_ctx *ctx)
{
	if (ctx->nword < ctx->base + 2)
		return cfg_error(
			ctx, ctx->argc, "'%s' expects a name and a value.", cfg_kw_name(ctx));
	return 0;
}

static int
parse_setenv(struct cfg_ctx *ctx)
{
	if (check_value(ctx))
		return -1;
	return report_env(ctx, cfg_env_set(ctx->env, cfg_arg(ctx, 0), cfg_arg(ctx, 1)));
}

static int
parse_presetenv(struct cfg_ctx *ctx)
{
	if (check_value(ctx))
		return -1;
	return report_env(ctx, cfg_env_preset(ctx->env, cfg_arg(ctx, 0), cfg_arg(ctx, 1)));
}

static int
parse_unsetenv(struct cfg_ctx *ctx)
{
	for (int i = 0; i < ctx->argc; i++)
		cfg_env_unset(ctx->env, cfg_arg(ctx, i));
	return 0;
}

static int
parse_resetenv(struct cfg_ctx *ctx)
{
	const char *keep[KEEP_MAX];

	if (ctx->argc > KEEP_MAX)
		return cfg_error(ctx, KEEP_MAX, "'%s': too many variables; the limit is %d.",
			cfg_kw_name(ctx), KEEP_MAX);
	for (int i = 0; i < ctx->argc; i++)
		keep[i] = cfg_arg(ctx, i);
	cfg_env_reset(ctx->env, keep, (unsigned int)ctx->argc);
	return 0;
}

#define UNCHANGED "none: the environment is that of the process"

static const struct cfg_kw kws[] = {
	{ .name = "setenv", .sections = CFG_GLOBAL, .min = 1, .max = 2, .parse = parse_setenv,
	  .syntax = "<name> <value>", .doc = "Sets an environment variable for the lines that "
		"follow.", .dflt = UNCHANGED },
	{ .name = "presetenv", .sections = CFG_GLOBAL, .min = 1, .max = 2, .parse = parse_presetenv,
	  .syntax = "<name> <value>", .doc = "Sets an environment variable unless it exists.",
	  .dflt = UNCHANGED },
	{ .name = "unsetenv", .sections = CFG_GLOBAL, .min = 1, .max = CFG_ANY,
	  .parse = parse_unsetenv, .syntax = "<name>...", .doc = "Deletes environment variables.",
	  .dflt = UNCHANGED },
	{ .name = "resetenv", .sections = CFG_GLOBAL, .max = CFG_ANY, .parse = parse_resetenv,
	  .syntax = "[<name>...]", .doc = "Deletes all environment variables except those named.",
	  .dflt = UNCHANGED },
	{ 0 }
};

const struct cfg_module env_cfg_module = { .name = "env", .kws = kws };
